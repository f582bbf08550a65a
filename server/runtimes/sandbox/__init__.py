"""How code is confined: bubblewrap, Landlock or Seatbelt, and the proof that it holds."""

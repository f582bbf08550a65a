"""The turn machine, played in scenes; many modules, because each is one kind of talk."""

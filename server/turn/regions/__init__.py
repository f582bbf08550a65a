"""The parts of the turn machine: speech on its way in, the request, speech on its way out."""

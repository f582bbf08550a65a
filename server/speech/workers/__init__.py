"""Speech engines' processes: started, asked, started again when they die."""

"""What applications tell of themselves over AT-SPI: their parts, by role and name."""

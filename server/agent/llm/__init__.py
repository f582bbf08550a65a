"""Language models behind one seam: which one answers, its wire, its errors."""

"""What a model can do beyond running code, each as tools: any of them can be left out."""

"""What runs in the sandbox: it decodes pictures that strangers made."""

"""What runs in the sandbox: it reads pages that strangers wrote."""

"""The one way from confined code to the network: a proxy that lets pass what a person granted."""

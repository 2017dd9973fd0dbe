"""The modules that were scripts before there was a package (up to 1.4)."""

"""Configurations for single execution providers."""

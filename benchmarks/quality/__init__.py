"""Our defaults against others who are tuned with the same care: `make study`."""

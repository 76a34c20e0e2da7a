"""What everything stands on: arithmetic, processes, progress bars, tables of text."""

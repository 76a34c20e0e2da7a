"""What methods and audits return."""

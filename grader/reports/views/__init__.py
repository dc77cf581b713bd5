"""Views: functions from reports to a `Document`. To add one, write a module with such a function."""

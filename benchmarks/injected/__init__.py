"""Bugs injected into real packages: injector, committed list, runner. No code is shared with the repairer."""

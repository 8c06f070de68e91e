"""Views read a request, call a service, and render a template."""

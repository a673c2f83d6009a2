"""Models behind the ports: any provider that pydantic-ai speaks to."""

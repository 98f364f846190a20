"""Ways into the API server: webhooks, aggregated APIs, conversions; who answers, who is reached."""

"""Who is reached by whom: Services, endpoints, routes, selectors, network policies, DNS."""

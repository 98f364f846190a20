"""What a cluster is given so that it asks Suture: settings in, documents out; pure."""

"""A real control plane at hand: etcd, kube-apiserver, its controllers and KWOK as processes."""

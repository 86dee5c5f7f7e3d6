# For scripts/check-manual.sh: the packages, installed from a registry.

check_server_package() {
  start_registry
  start_postgres
  export PORT=0 ADMIN_PORT=0 METRICS_PORT=0 SANDBOX_PORT=0
  registry_project server
  run
  registry_project demo
  run
}

check_sandbox_package() {
  start_registry
  registry_project tests
  run
}

# A new project that installs from our registry, without a cache: another run had other packages of the same name.
registry_project() {
  new_project "$1"
  printf 'registry=%s\ncache=%s\n' "$registry" "$work/$page/npm-cache" >.npmrc
}

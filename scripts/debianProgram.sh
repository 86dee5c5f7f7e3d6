#!/usr/bin/env bash
# Prints a folder with a program as a release of Debian has it, with the libraries of that release, so that
# nothing is installed. It is downloaded once into `FOLDER`. Needs Debian or Ubuntu, and root for apt.
#   debian_program FOLDER RELEASE PACKAGE PATH [NAME]
# `PATH` is the program's in the package, and `NAME` what it is called in the folder, by default the same.
debian_program() {
  local folder=$1 release=$2 package=$3 path=$4 name=${5:-$(basename "$4")}
  if [[ ! -e $folder/complete ]]; then
    mkdir -p "$folder"/{apt/lists/partial,apt/cache/archives/partial,root,bin}
    local mirror options archive loader libraries
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/$')
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$folder/apt/sources.list"
    options=(
      -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
      -o "Dir::State::lists=$folder/apt/lists" -o Dir::State::status=/dev/null
      -o "Dir::Cache=$folder/apt/cache" -o APT::Install-Recommends=false -o APT::Sandbox::User=root -qq
    )
    apt-get "${options[@]}" update >&2
    apt-get "${options[@]}" install -y --download-only "$package" >&2
    for archive in "$folder"/apt/cache/archives/*.deb; do dpkg -x "$archive" "$folder/root"; done
    loader=$(find "$folder/root" -name 'ld-linux*.so.*' | head -1)
    libraries=$(find "$folder/root/lib" "$folder/root/usr/lib" -maxdepth 1 -name '*-linux-gnu' 2>/dev/null | paste -sd:)
    printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' \
      "$loader" "$libraries" "$folder/root$path" >"$folder/bin/$name"
    chmod +x "$folder/bin/$name"
    touch "$folder/complete"
  fi
  echo "$folder/bin"
}

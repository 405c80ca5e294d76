# SPDX-License-Identifier: GPL-2.0-or-later
#
# nix build "git+file://$PWD?dir=packaging", or with the address of this repository.
{
  description = "Database load generator, scripted in Lua";

  inputs.nixpkgs.url = "nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.stdenv.mkDerivation {
          pname = "sysbench";
          version = "2.0.0";
          src = ./..;
          nativeBuildInputs = with pkgs; [ autoreconfHook pkg-config ];
          buildInputs = with pkgs; [
            boost
            jansson
            libck
            libmicrohttpd
            libmysqlclient
            libpq
            liburing
            luajit
            mongoc
            sqlite
            zlib
          ];
          configureFlags = [
            "--with-sqlite=yes"
            "--with-mysql=yes"
            "--with-pgsql=yes"
            "--with-mongodb=yes"
            "--without-openmpi"
            "--without-mpich"
          ];
          enableParallelBuilding = true;
          meta = {
            description = "Database load generator, scripted in Lua";
            license = with pkgs.lib.licenses; [ gpl2Plus mit ];
            mainProgram = "sysbench";
            platforms = systems;
          };
        };
      });
    };
}

{
  description = "A brain you can git log: one network of neurons, shared by many agents, in a git repository";

  # Rust 1.88 or later.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).package;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.name;
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildType = "dist";
          # The tests need programs and namespaces that a build does not have; `.ci/run` runs them.
          doCheck = false;
          # Not wrapped: hooks call the program by the name that the path leads to, which outlives a place in the store.
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/git-brain man $out/share/man/man1
            for shell in bash zsh fish; do
              $out/bin/git-brain completions $shell > git-brain.$shell
            done
            installShellCompletion --cmd git-brain --bash git-brain.bash --zsh git-brain.zsh --fish git-brain.fish
          '';
          meta = {
            inherit (manifest) description;
            license = [ pkgs.lib.licenses.mit pkgs.lib.licenses.asl20 ];
            mainProgram = "git-brain";
          };
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell { packages = [ pkgs.cargo pkgs.clippy pkgs.rustfmt pkgs.git pkgs.python3 ]; };
      });
    };
}

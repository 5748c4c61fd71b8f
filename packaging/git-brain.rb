# Homebrew formula. `.ci/packages` fills in the version and the checksum of the crate, and tries it; a tap takes the result.
class GitBrain < Formula
  desc "Network of neurons, shared by many agents, as versioned JSON in a git repository"
  homepage "https://crates.io/crates/git-brain"
  url "https://static.crates.io/crates/git-brain/git-brain-@VERSION@.crate"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on "git"

  def install
    system "cargo", "install", "--profile", "dist", *std_cargo_args
    system bin/"git-brain", "man", man1
    generate_completions_from_executable(bin/"git-brain", "completions", shells: [:bash, :zsh, :fish])
  end

  test do
    system bin/"git-brain", "init", "notes"
    system bin/"git-brain", "-C", "notes", "feed", "Anna: the green tea from Uji arrived"
    assert_match "green tea", shell_output("#{bin}/git-brain -C notes recall who likes tea")
  end
end

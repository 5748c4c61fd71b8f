# Does a formula's steps with a double of Homebrew: ruby .ci/formula.rb FORMULA PROGRAM PREFIX
# Cargo of this double puts the program that is there into the prefix; everything else happens.
require "fileutils"
require "pathname"

FORMULA, PROGRAM, PREFIX = ARGV
$tests = nil

class Formula
  class << self
    %i[desc homepage url sha256 license depends_on].each do |name|
      define_method(name) { |value = nil, **more| (@said ||= {})[name] = value || more }
    end
    def test(&block) = $tests = block
    def said = @said
  end

  def prefix = Pathname.new(PREFIX)
  def bin = prefix/"bin"
  def man1 = prefix/"share/man/man1"
  def std_cargo_args = ["--locked", "--root", prefix.to_s, "--path", "."]

  def system(*words)
    words = words.map(&:to_s)
    if words.first == "cargo"
      raise "not an installation: #{words}" unless words[0, 4] == ["cargo", "install", "--profile", "dist"]
      FileUtils.mkdir_p(bin)
      FileUtils.cp(PROGRAM, bin/"git-brain")
    else
      Kernel.system(*words, out: File::NULL) or raise "#{words.join(" ")} failed"
    end
  end

  def generate_completions_from_executable(program, *words, shells:)
    places = { bash: "etc/bash_completion.d/git-brain", zsh: "share/zsh/site-functions/_git-brain",
               fish: "share/fish/vendor_completions.d/git-brain.fish" }
    shells.each do |shell|
      place = prefix/places.fetch(shell)
      FileUtils.mkdir_p(place.dirname)
      script = IO.popen([program.to_s, *words, shell.to_s], &:read)
      raise "no completions of #{shell}" if script.empty?
      place.write(script)
    end
  end

  def shell_output(command) = `#{command}`
  def assert_match(wanted, text) = (raise "#{wanted} is not in #{text}" unless text.include?(wanted))
end

load FORMULA
formula = GitBrain.new
raise "no checksum" unless GitBrain.said[:sha256].match?(/\A[0-9a-f]{64}\z/)
formula.install
raise "no manual page" unless (formula.man1/"git-brain.1").exist?
Dir.mktmpdir { |folder| Dir.chdir(folder) { formula.instance_eval(&$tests) } } if require "tmpdir"
puts "homebrew       installs, and its test passes (with a double of Homebrew)"

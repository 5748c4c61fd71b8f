//! The table of the forms of secrets: where to look, what a secret looks like there, one that is, and one that is not.
//!
//! The forms (a beginning, an alphabet, a length) are facts: as vendors document them and as gitleaks' rules
//! (<https://github.com/gitleaks/gitleaks>, `config/gitleaks.toml`) have collected them; RFC 7468, RFC 7519.

/// A form of secrets.
pub(super) struct Rule {
    /// Its kind.
    pub kind: &'static str,
    /// Texts that stand in every secret of the form; most begin it. One in small letters stands for capitals too: words of concepts
    /// are kept in small letters, and would become what the text was not.
    pub anchors: &'static [&'static str],
    /// What follows the anchor, or what stands around it.
    pub form: Form,
    /// A text for each anchor, in the order of the anchors: `{a40}` stands for forty letters and figures, `{x40}` for hexadecimal
    /// digits, `{u40}` for capitals and figures, `{n10}` for figures.
    #[cfg(test)]
    pub samples: &'static [&'static str],
    /// Texts that are nearly so.
    #[cfg(test)]
    pub misses: &'static [&'static str],
}

/// What a secret looks like.
pub(super) enum Form {
    /// The anchor, then at least so many characters of an alphabet.
    Tail(Alphabet, usize),
    /// The anchor, then exactly so many.
    Exactly(Alphabet, usize),
    /// The same, letters mixed with figures: words begin so too.
    Mixed(Alphabet, usize),
    /// As `Tail`, of an anchor so short that words end in it: only where no word stands before it, and only letters mixed with
    /// figures.
    Weak(Alphabet, usize),
    /// The anchor, then a pattern, whose first group is the secret, if it has one.
    From(&'static str),
    /// A pattern that begins at most so many bytes before the anchor.
    Around(usize, &'static str),
    /// The anchor, then a pattern of two groups: the rest of a name, and a value, which is a secret only if it looks made by a
    /// machine and the name says nothing else.
    Doubtful(&'static str),
}

/// The characters of a secret behind its beginning.
#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    /// Letters and figures.
    Plain,
    /// The same, `_` and `-`.
    Word,
    /// The same and `.`, which does not end it.
    Dotted,
    /// Hexadecimal digits.
    Hex,
    /// Capitals and figures.
    Upper,
    /// Base64 of any kind, percent signs included.
    Base64,
}

impl Alphabet {
    pub(super) fn has(self, byte: u8) -> bool {
        let plain = byte.is_ascii_alphanumeric();
        match self {
            Self::Plain => plain,
            Self::Word => plain || matches!(byte, b'_' | b'-'),
            Self::Dotted => plain || matches!(byte, b'_' | b'-' | b'.'),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            Self::Base64 => plain || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'%'),
        }
    }
}

type Texts = &'static [&'static str];

/// A rule. Samples and misses are the tests'.
#[allow(unused_variables, reason = "samples and misses are the tests'")]
const fn rule(kind: &'static str, anchors: Texts, form: Form, samples: Texts, misses: Texts) -> Rule {
    Rule {
        kind,
        anchors,
        form,
        #[cfg(test)]
        samples,
        #[cfg(test)]
        misses,
    }
}

use Alphabet::{Base64, Dotted, Hex, Plain, Upper, Word};
use Form::{Around, Doubtful, Exactly, From, Mixed, Tail, Weak};

/// All forms. Of two that take the same bytes the earlier one names them.
pub(super) const RULES: &[Rule] = &[
    rule("aws-access-key", &["AKIA"], Exactly(Upper, 16), &["AKIA{u16}"], &["AKIA{u12}", "AKIA{u30}", "akia{a16}"]),
    rule(
        "aws-access-key",
        &["ASIA", "ABIA", "ACCA"],
        Mixed(Upper, 16),
        &["ASIA{u16}", "ABIA{u16}", "ACCA{u16}"],
        &["ASIA{u12}", "ASIANDEVELOPMENTBANK"],
    ),
    rule("aws-bedrock-key", &["ABSK"], Tail(Base64, 109), &["ABSK{a120}"], &["ABSK{a40}"]),
    rule(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        Tail(Plain, 36),
        &["ghp_{a36}", "gho_{a36}", "ghu_{a36}", "ghs_{a40}", "ghr_{a76}"],
        &["ghp_{a35}", "ghx_{a36}"],
    ),
    rule("github-token", &["github_pat_"], Tail(Word, 22), &["github_pat_{a22}_{a59}"], &["github_pat_{a12}"]),
    rule(
        "gitlab-token",
        &[
            "glpat-", "glptt-", "gldt-", "glrt-", "glrtr-", "glft-", "glimt-", "glagent-", "gloas-", "glcbt-",
            "glffct-", "glsoat-", "glwt-",
        ],
        Tail(Dotted, 20),
        &[
            "glpat-{a20}",
            "glptt-{x40}",
            "gldt-{a20}",
            "glrt-{a20}",
            "glrtr-{a20}",
            "glft-{a20}",
            "glimt-{a25}",
            "glagent-{a50}",
            "gloas-{x64}",
            "glcbt-64_{a20}",
            "glffct-{a20}",
            "glsoat-{a20}",
            "glwt-{a20}",
        ],
        &["glpat-{a12}", "gl-pat-{a20}"],
    ),
    rule("gitlab-token", &["GR1348941"], Tail(Word, 20), &["GR1348941{a20}"], &["GR1348941{a8}"]),
    rule(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        From("((?:[0-9]-)?(?:[0-9]{9,}|[0-9A-Za-z]{24,})(?:-[0-9A-Za-z]{8,})*)"),
        &[
            "xoxa-2-{n12}-{a24}",
            "xoxb-{n12}-{n12}-{a24}",
            "xoxc-{n12}-{x64}",
            "xoxe-1-{a140}",
            "xoxo-{n12}-{x32}",
            "xoxp-{n12}-{x32}",
            "xoxr-{n12}-{a24}",
            "xoxs-{n12}-{x32}",
        ],
        &["xoxb-{a6}", "xoxz-{a40}", "xoxo", "xoxb-notes-of-a-meeting-{x8}"],
    ),
    rule("slack-token", &["xoxd-"], Tail(Base64, 40), &["xoxd-{a20}%2F{a40}"], &["xoxd-{a20}"]),
    rule(
        "slack-token",
        &["xapp-", "xwfp-"],
        Tail(Word, 24),
        &["xapp-1-{u11}-{n13}-{x64}", "xwfp-1-{u11}-{n13}-{x64}"],
        &["xapp-1-A"],
    ),
    rule(
        "slack-webhook",
        &["hooks.slack.com/"],
        From(r"(?:services|workflows|triggers)/[A-Za-z0-9+/]{32,120}"),
        &["hooks.slack.com/services/T{u8}/B{u8}/{a24}"],
        &["hooks.slack.com/services/T0/B0", "hooks.slack.com/{a40}"],
    ),
    rule(
        "stripe-key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"],
        Tail(Plain, 16),
        &["sk_live_{a24}", "sk_test_{a24}", "sk_prod_{a24}", "rk_live_{a99}", "rk_test_{a24}", "rk_prod_{a24}"],
        &["sk_live_{a10}", "pk_live_{a24}"],
    ),
    rule("stripe-webhook", &["whsec_"], Tail(Base64, 24), &["whsec_{a32}"], &["whsec_{a12}"]),
    rule(
        "square-token",
        &["sq0atp-", "sq0csp-"],
        Tail(Word, 22),
        &["sq0atp-{a22}", "sq0csp-{a43}"],
        &["sq0atp-{a10}", "sq0idp-{a22}"],
    ),
    rule("square-token", &["EAAA"], Weak(Word, 56), &["EAAA{a60}"], &["EAAA{a20}", "xEAAA{a60}"]),
    rule(
        "mailgun-key",
        &["key-"],
        Mixed(Hex, 32),
        &["key-{x32}"],
        &["key-{x16}", "key-{x40}", "key-of-the-house-by-the-lake-of-ann"],
    ),
    rule(
        "vercel-token",
        &["vcp_", "vci_", "vca_", "vcr_", "vck_"],
        Weak(Plain, 24),
        &["vcp_{a56}", "vci_{a56}", "vca_{a56}", "vcr_{a56}", "vck_{a56}"],
        &["vcp_{a12}", "srvcp_{a56}"],
    ),
    rule(
        "vercel-token",
        &["vercel_blob_rw_"],
        Tail(Word, 30),
        &["vercel_blob_rw_{a16}_{a30}"],
        &["vercel_blob_rw_{a12}"],
    ),
    rule(
        "cloudflare-key",
        &["v1.0-"],
        From(r"[0-9a-f]{24}-[0-9a-f]{140,160}"),
        &["v1.0-{x24}-{x146}"],
        &["v1.0-{x24}", "v1.0-{x24}-{x40}"],
    ),
    rule(
        "tailscale-key",
        &["tskey-"],
        From(r"(?:[a-z]{2,16}-)?[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?"),
        &["tskey-auth-{a12}CNTRL-{a32}"],
        &["tskey-auth", "tskey-{a4}"],
    ),
    rule(
        "docker-swarm-token",
        &["SWMTKN-1-"],
        From(r"[0-9a-z]{40,60}-[0-9a-z]{20,30}"),
        &["SWMTKN-1-{x50}-{x25}"],
        &["SWMTKN-1-{x50}", "SWMTKN-1-{x12}-{x25}"],
    ),
    rule("google-key", &["AIza"], Tail(Word, 35), &["AIza{a35}"], &["AIza{a20}", "aiza{a35}"]),
    rule("google-secret", &["GOCSPX-"], Tail(Word, 20), &["GOCSPX-{a28}"], &["GOCSPX-{a8}"]),
    rule("google-token", &["ya29."], Tail(Dotted, 20), &["ya29.{a60}"], &["ya29.{a8}"]),
    rule("google-token", &["1//0"], Weak(Word, 40), &["1//0{a60}"], &["1//0{a12}", "11//0{a60}"]),
    rule("anthropic-key", &["sk-ant-"], Tail(Word, 24), &["sk-ant-api03-{a93}AA"], &["sk-ant-{a12}"]),
    rule(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        Tail(Word, 24),
        &["sk-proj-{a60}", "sk-svcacct-{a60}", "sk-admin-{a60}"],
        &["sk-proj-{a12}"],
    ),
    rule("openrouter-key", &["sk-or-"], Tail(Word, 32), &["sk-or-v1-{x64}"], &["sk-or-v1-{x12}"]),
    rule("langfuse-key", &["sk-lf-"], Tail(Word, 32), &["sk-lf-{x8}-{x4}-{x4}-{x4}-{x12}"], &["sk-lf-{x8}"]),
    rule(
        "openai-key",
        &["sk-"],
        Weak(Plain, 32),
        &["sk-{a48}"],
        &["sk-{a16}", "disk-{a48}", "sk-learn-estimators-are-risk-averse-tasks"],
    ),
    rule("groq-key", &["gsk_"], Tail(Plain, 40), &["gsk_{a52}"], &["gsk_{a20}"]),
    rule("xai-key", &["xai-"], Tail(Plain, 40), &["xai-{a80}"], &["xai-{a20}"]),
    rule("perplexity-key", &["pplx-"], Tail(Plain, 40), &["pplx-{a48}"], &["pplx-{a20}"]),
    rule("replicate-token", &["r8_"], Weak(Plain, 37), &["r8_{a37}"], &["r8_{a20}", "over8_{a37}"]),
    rule("nvidia-key", &["nvapi-"], Tail(Word, 40), &["nvapi-{a64}"], &["nvapi-{a20}"]),
    rule("cerebras-key", &["csk-"], Weak(Plain, 40), &["csk-{a48}"], &["csk-{a20}", "mcsk-{a48}"]),
    rule("tavily-key", &["tvly-"], Tail(Word, 24), &["tvly-dev-{a32}"], &["tvly-{a12}"]),
    rule("pinecone-key", &["pcsk_"], Tail(Word, 40), &["pcsk_{a6}_{a63}"], &["pcsk_{a12}"]),
    rule("e2b-key", &["e2b_"], Tail(Hex, 40), &["e2b_{x40}"], &["e2b_{x12}"]),
    rule("elevenlabs-key", &["sk_"], Weak(Hex, 48), &["sk_{x48}"], &["sk_{x12}", "task_{x48}", "sk_{x20}zz"]),
    rule("langsmith-key", &["lsv2_"], Tail(Word, 40), &["lsv2_pt_{x32}_{x10}"], &["lsv2_pt_{x8}"]),
    rule("apify-token", &["apify_api_"], Tail(Plain, 36), &["apify_api_{a36}"], &["apify_api_{a12}"]),
    rule(
        "huggingface-token",
        &["hf_", "api_org_"],
        Tail(Plain, 30),
        &["hf_{a34}", "api_org_{a34}"],
        &["hf_{a20}", "hf_hub_download_of_a_model_that_is_large"],
    ),
    rule("npm-token", &["npm_"], Tail(Plain, 36), &["npm_{a36}"], &["npm_{a20}", "npm_config_registry"]),
    rule("pypi-token", &["pypi-"], Tail(Word, 50), &["pypi-AgEIcHlwaS5vcmc{a80}"], &["pypi-{a20}"]),
    rule("rubygems-key", &["rubygems_"], Tail(Hex, 48), &["rubygems_{x48}"], &["rubygems_{x20}"]),
    rule("clojars-token", &["CLOJARS_"], Tail(Plain, 60), &["CLOJARS_{a60}"], &["CLOJARS_{a20}"]),
    rule(
        "docker-token",
        &["dckr_pat_", "dckr_oat_"],
        Tail(Word, 24),
        &["dckr_pat_{a27}", "dckr_oat_{a32}"],
        &["dckr_pat_{a10}"],
    ),
    rule("artifactory-key", &["AKCp"], Tail(Plain, 69), &["AKCp{a69}"], &["AKCp{a20}"]),
    rule(
        "sendgrid-key",
        &["SG."],
        From(r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{32,128}"),
        &["SG.{a22}.{a43}"],
        &["SG.{a22}", "SG.{a22}.{a8}"],
    ),
    rule("sendinblue-key", &["xkeysib-"], Tail(Word, 64), &["xkeysib-{x64}-{a16}"], &["xkeysib-{x12}"]),
    rule("twilio-key", &["SK"], Mixed(Hex, 32), &["SK{x32}"], &["SK{x16}", "SK{x40}", "sk{x32}"]),
    rule(
        "digitalocean-token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        Tail(Hex, 64),
        &["dop_v1_{x64}", "doo_v1_{x64}", "dor_v1_{x64}"],
        &["dop_v1_{x32}"],
    ),
    rule("heroku-key", &["HRKU-"], Tail(Word, 30), &["HRKU-AA{a58}"], &["HRKU-{a12}"]),
    rule("netlify-token", &["nfp_"], Tail(Plain, 36), &["nfp_{a36}"], &["nfp_{a12}"]),
    rule(
        "supabase-key",
        &["sbp_", "sb_secret_"],
        Tail(Word, 20),
        &["sbp_{x40}", "sb_secret_{a31}"],
        &["sbp_{x12}", "sb_publishable_{a31}"],
    ),
    rule(
        "planetscale-key",
        &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"],
        Tail(Dotted, 32),
        &["pscale_tkn_{a43}", "pscale_oauth_{a43}", "pscale_pw_{a43}"],
        &["pscale_tkn_{a12}"],
    ),
    rule(
        "fly-token",
        &["fo1_", "fm1a_", "fm1r_", "fm2_"],
        Tail(Base64, 43),
        &["fo1_{a43}", "fm1a_{a100}", "fm1r_{a100}", "fm2_{a120}"],
        &["fm2_{a20}"],
    ),
    rule(
        "terraform-token",
        &[".atlasv1."],
        Around(14, r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
        &["{a14}.atlasv1.{a67}"],
        &["{a4}.atlasv1.{a67}", "{a14}.atlasv1.{a12}"],
    ),
    rule(
        "vault-token",
        &["hvs.", "hvb.", "hvr."],
        Tail(Word, 24),
        &["hvs.{a95}", "hvb.{a140}", "hvr.{a90}"],
        &["hvs.{a12}"],
    ),
    rule(
        "doppler-token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        Tail(Dotted, 40),
        &["dp.pt.{a43}", "dp.st.dev.{a43}", "dp.ct.{a43}", "dp.sa.{a43}", "dp.scim.{a43}", "dp.audit.{a43}"],
        &["dp.pt.{a12}"],
    ),
    rule(
        "1password-key",
        &["A3-"],
        From(r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
        &["A3-{u6}-{u11}-{u5}-{u5}-{u5}"],
        &["A3-{u6}-{u11}", "A3-paper"],
    ),
    rule("1password-key", &["ops_eyJ"], Tail(Base64, 100), &["ops_eyJ{a250}"], &["ops_eyJ{a20}"]),
    rule("pulumi-token", &["pul-"], Tail(Hex, 40), &["pul-{x40}"], &["pul-{x12}"]),
    rule("databricks-token", &["dapi"], Tail(Hex, 32), &["dapi{x32}-2"], &["dapi{x12}"]),
    rule(
        "dynatrace-token",
        &["dt0c01.", "dt0s01."],
        Tail(Dotted, 60),
        &["dt0c01.{u24}.{u64}", "dt0s01.{u24}.{u64}"],
        &["dt0c01.{u24}"],
    ),
    rule("grafana-token", &["glsa_", "glc_"], Tail(Base64, 32), &["glsa_{a32}_{x8}", "glc_{a80}"], &["glsa_{a12}"]),
    rule("grafana-token", &["eyJrIjoi"], Tail(Base64, 70), &["eyJrIjoi{a80}"], &["eyJrIjoi{a20}"]),
    rule(
        "newrelic-key",
        &["NRAK-", "NRII-", "NRJS-", "NRRA-"],
        Tail(Word, 19),
        &["NRAK-{u27}", "NRII-{a32}", "NRJS-{x19}", "NRRA-{x42}"],
        &["NRAK-{u8}"],
    ),
    rule(
        "sentry-token",
        &["sntrys_", "sntryu_"],
        Tail(Base64, 40),
        &["sntrys_{a120}", "sntryu_{x64}"],
        &["sntryu_{x12}"],
    ),
    rule(
        "sonar-token",
        &["squ_", "sqp_", "sqa_"],
        Tail(Hex, 40),
        &["squ_{x40}", "sqp_{x40}", "sqa_{x40}"],
        &["squ_{x12}"],
    ),
    rule(
        "circleci-token",
        &["CCIPAT_", "CCIPRJ_"],
        Tail(Word, 40),
        &["CCIPAT_{a22}_{x40}", "CCIPRJ_{a22}_{x40}"],
        &["CCIPAT_{a12}"],
    ),
    rule("buildkite-token", &["bkua_"], Tail(Hex, 40), &["bkua_{x40}"], &["bkua_{x12}"]),
    rule(
        "linear-key",
        &["lin_api_", "lin_oauth_"],
        Tail(Plain, 32),
        &["lin_api_{a40}", "lin_oauth_{x64}"],
        &["lin_api_{a12}"],
    ),
    rule("notion-token", &["ntn_"], Tail(Plain, 40), &["ntn_{n11}{a35}"], &["ntn_{a20}"]),
    rule("notion-token", &["secret_"], Mixed(Plain, 43), &["secret_{a43}"], &["secret_{a20}", "secret_{a60}"]),
    rule("figma-token", &["figd_"], Tail(Word, 32), &["figd_{a40}"], &["figd_{a12}"]),
    rule(
        "airtable-token",
        &["pat"],
        From(r"[A-Za-z0-9]{14}\.[A-Fa-f0-9]{64}"),
        &["pat{a14}.{x64}"],
        &["pat{a14}.{x12}", "pattern"],
    ),
    rule(
        "atlassian-token",
        &["ATATT3", "ATCTT3"],
        Tail(Base64, 100),
        &["ATATT3{a186}", "ATCTT3{a186}"],
        &["ATATT3{a20}"],
    ),
    rule("bitbucket-token", &["ATBB"], Tail(Plain, 32), &["ATBB{a32}"], &["ATBB{a12}"]),
    rule("dropbox-token", &["sl."], Weak(Dotted, 130), &["sl.{a138}"], &["sl.{a40}", "html.sl{a138}"]),
    rule("contentful-token", &["CFPAT-"], Tail(Word, 40), &["CFPAT-{a43}"], &["CFPAT-{a12}"]),
    rule(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        Tail(Hex, 32),
        &["shpat_{x32}", "shpca_{x32}", "shppa_{x32}", "shpss_{x32}"],
        &["shpat_{x12}"],
    ),
    rule(
        "shippo-token",
        &["shippo_live_", "shippo_test_"],
        Tail(Hex, 40),
        &["shippo_live_{x40}", "shippo_test_{x40}"],
        &["shippo_live_{x12}"],
    ),
    rule("easypost-token", &["EZAK", "EZTK"], Tail(Plain, 54), &["EZAK{a54}", "EZTK{a54}"], &["EZAK{a20}"]),
    rule(
        "duffel-token",
        &["duffel_live_", "duffel_test_"],
        Tail(Word, 40),
        &["duffel_live_{a43}", "duffel_test_{a43}"],
        &["duffel_live_{a12}"],
    ),
    rule(
        "flutterwave-key",
        &["FLWSECK-", "FLWSECK_TEST-"],
        Tail(Word, 32),
        &["FLWSECK-{x32}-X", "FLWSECK_TEST-{x32}-X"],
        &["FLWSECK-{x12}"],
    ),
    rule("postman-key", &["PMAK-"], Tail(Word, 50), &["PMAK-{x24}-{x34}"], &["PMAK-{x24}"]),
    rule("readme-key", &["rdme_"], Tail(Plain, 70), &["rdme_{a70}"], &["rdme_{a20}"]),
    rule("prefect-key", &["pnu_"], Tail(Plain, 36), &["pnu_{a36}"], &["pnu_{a12}"]),
    rule("sourcegraph-token", &["sgp_"], Tail(Word, 40), &["sgp_{x16}_{x40}"], &["sgp_{x12}"]),
    rule("mapbox-token", &["sk.eyJ"], Tail(Dotted, 40), &["sk.eyJ{a60}.{a22}"], &["sk.eyJ{a12}", "pk.eyJ{a60}.{a22}"]),
    rule("octopus-key", &["API-"], Mixed(Upper, 26), &["API-{u26}"], &["API-{u12}", "API-REFERENCE-OF-THE-WHOLE"]),
    rule("openshift-token", &["sha256~"], Tail(Word, 43), &["sha256~{a43}"], &["sha256~{a12}"]),
    rule("typeform-token", &["tfp_"], Tail(Dotted, 40), &["tfp_{a44}_{a14}"], &["tfp_{a12}"]),
    rule("adobe-secret", &["p8e-"], Tail(Plain, 32), &["p8e-{a32}"], &["p8e-{a12}"]),
    rule("alibaba-key", &["LTAI"], Tail(Plain, 16), &["LTAI{a20}"], &["LTAI{a8}"]),
    rule(
        "facebook-token",
        &["EAAC", "EAAM", "EAAG", "EAAB"],
        Weak(Plain, 100),
        &["EAAC{a140}", "EAAM{a140}", "EAAG{a140}", "EAAB{a140}"],
        &["EAAC{a40}"],
    ),
    rule(
        "telegram-token",
        &[":AA"],
        Around(12, r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,33}"),
        &["{n10}:AA{a33}"],
        &["{n4}:AA{a33}", "{n10}:AA{a12}", "12:AAPL"],
    ),
    rule(
        "discord-webhook",
        &["/api/webhooks/"],
        From(r"[0-9]{10,20}/([A-Za-z0-9_-]{50,90})"),
        &["/api/webhooks/{n18}/{a68}"],
        &["/api/webhooks/{n18}", "/api/webhooks/help/{a68}"],
    ),
    rule(
        "teams-webhook",
        &[".webhook.office.com/"],
        From(r"webhookb2/[A-Za-z0-9@-]{36,80}/IncomingWebhook/[A-Za-z0-9]{32}/[A-Za-z0-9/_-]{20,120}"),
        &[".webhook.office.com/webhookb2/{x8}-{x4}-{x4}-{x4}-{x12}@{x8}/IncomingWebhook/{x32}/{x36}"],
        &[".webhook.office.com/webhookb2/{x8}"],
    ),
    rule(
        "azure-key",
        &["accountkey=", "sharedaccesskey="],
        Tail(Base64, 40),
        &["AccountKey={a86}==", "SharedAccessKey={a43}="],
        &["AccountKey={a12}", "AccountKey=$STORAGE_KEY"],
    ),
    rule(
        "azure-key",
        &["JQQJ99"],
        Around(52, r"[A-Za-z0-9]{40,52}JQQJ99[A-Za-z0-9]{20,40}"),
        &["{a52}JQQJ99{a26}"],
        &["{a12}JQQJ99{a26}"],
    ),
    rule(
        "azure-signature",
        &["sig="],
        From(r"([A-Za-z0-9%+/]{40,80}(?:=|%3D|%3d))"),
        &["sig={a43}%3D"],
        &["sig={a43}", "sig={a12}%3D"],
    ),
    rule(
        "azure-secret",
        &["Q~"],
        Around(4, r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
        &["{a3}8Q~{a34}"],
        &["{a3}8Q~{a12}", "abcxQ~{a34}"],
    ),
    rule("age-key", &["AGE-SECRET-KEY-1"], Exactly(Upper, 58), &["AGE-SECRET-KEY-1{u58}"], &["AGE-SECRET-KEY-1{u20}"]),
    rule(
        "jwt",
        &["eyJ"],
        From(r"[A-Za-z0-9_-]{8,1024}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        &["eyJ{a20}.eyJ{a20}.{a43}"],
        &["eyJ{a20}.{a20}", "eyJ{a20}.eyJ{a20}"],
    ),
    rule(
        "private-key",
        &["-----BEGIN "],
        From(
            r"(?s)(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)",
        ),
        &["-----BEGIN OPENSSH PRIVATE KEY-----\n{a64}\n-----END OPENSSH PRIVATE KEY-----"],
        &["-----BEGIN CERTIFICATE-----\n{a64}", "-----BEGIN PUBLIC KEY-----\n{a64}"],
    ),
    rule(
        "url-password",
        &["://"],
        From(r#"[^\s/:@"'\\<>\[\]]{0,64}:([^\s/@"'\\<>\[\]{}$*]{3,128})@"#),
        &["postgres://ann:{a12}@db/x"],
        &["https://example.com/path:8080?x=1", "postgres://ann:$PASSWORD@db"],
    ),
    rule(
        "authorization",
        &["authorization"],
        Doubtful(
            r#"(?i)()\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:bearer|basic|token)\s{1,4}([A-Za-z0-9+/._~=-]{12,4096})"#,
        ),
        &["Authorization: Bearer {a20}"],
        &["Authorization: Bearer someplainword", "Authorization: Bearer {a8}"],
    ),
    rule(
        "command-password",
        &["mysql ", "mysqldump ", "mariadb "],
        Doubtful(r#"(?:[^\n|;&]{0,120}\s)?()-p([^\s"'|;&,$-][^\s"'|;&,$]{5,127})"#),
        &["mysql -u root -p{a12}", "mysqldump -p{a12}", "mariadb -h db -p{a12}"],
        &["mysql -u root -p shop2024", "mysql --port=3306abc", "mysql -p$SHOP_PASS1"],
    ),
    rule(
        "command-password",
        &["curl ", "sshpass "],
        Doubtful(
            r#"(?:[^\n|;&]{0,120}\s)?()(?:(?:-u|--user)[ =]?["']?[^\s:"',]{1,64}:|-p\s?["']?)([^\s"',;|&$]{6,128})"#,
        ),
        &["curl -s -u ann:{a12}", "sshpass -p {a12}"],
        &["curl -u ann:password", "curl -s https://example.com/a1b2c3d4", "sshpass -p $ANNS_PASS1"],
    ),
    rule(
        "said",
        &["password", "passwort", "passphrase", "passcode", "mot de passe", "api key", "token", " pw"],
        Doubtful(
            r#"(?i)()(?:\s(?:of|for|on|to|der|des|du|de|pour)\s[^\n.;:?!=]{1,60}?(?:\s(?:is|was|ist|lautet|est)\s|:\s{1,4})|\s(?:is|was|ist|lautet|est)\s)(?:now\s)?["'`]?([^\s"'`\\,;<>\[\]{}()$*]{6,256})"#,
        ),
        &[
            "password of the staging box is {a12}",
            "Passwort lautet {a12}",
            "passphrase is now {a12}",
            "passcode for the door: {a12}",
            "mot de passe est {a12}",
            "API key is {a20}",
            "token is {a20}",
            "my pw is {a12}",
        ],
        &[
            "password is in the vault",
            "the token is signed with sha256",
            "the password of ann2 is secret",
            "the api key is $API_KEY2",
            "the token for step 3 is wrong",
        ],
    ),
    rule(
        "said",
        &["passwort", "passcode", "mot de passe", "api key"],
        Doubtful(r#"()\s{0,2}[:=]\s{0,4}["'`]?([^\s"'`\\,;<>\[\]{}()$*]{6,256})"#),
        &["Passwort: {a12}", "passcode: {a12}", "mot de passe : {a12}", "the api key: {a20}"],
        &["Passwort: geheim", "api key: rotated"],
    ),
    rule(
        "assigned",
        &["pass", "pwd"],
        Doubtful(r#"()\\?["']?\s{0,4}(?::=|=>|=|:)\s{0,4}\\?["']?([^\s"'\\,;<>\[\]{}()$*]{6,256})"#),
        &["DB_PASS={a12}", "MYSQL_PWD={a12}"],
        &["PASS=$DB_PASS1", "the tests pass: 964", "pass: true"],
    ),
    rule(
        "assigned",
        &[
            "password",
            "passwd",
            "passphrase",
            "secret",
            "token",
            "api_key",
            "api-key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "private_key",
            "private-key",
            "privatekey",
        ],
        Doubtful(r#"([A-Za-z0-9_-]{0,20})\\?["']?\s{0,4}(?::=|=>|=|:)\s{0,4}\\?["']?([^\s"'\\,;<>\[\]{}()$*]{8,256})"#),
        &[
            "DB_PASSWORD={a12}",
            "passwd: {a12}",
            "passphrase => {a12}",
            "client_secret = '{a20}'",
            "\"token\": \"{a20}\"",
            "api_key={a20}",
            "api-key: {a20}",
            "apikey={a20}",
            "aws_secret_access_key={a40}",
            "access-key={a20}",
            "accessKey={a20}",
            "private_key={a20}",
            "private-key={a20}",
            "privateKey={a20}",
        ],
        &[
            "password: correct horse battery",
            "password=$PASSWORD",
            "token_url: https://auth2.example.com/v1/token",
            "private_key_path: /etc/ssl/private/host2.key",
            "private_key: ~/.ssh/id_ed25519",
            "TOKEN_TTL=3600seconds",
            "secret_name: web2-credentials",
            "token=eleven",
            "token_type: bearer2token",
            "PASSWORD_MIN_LENGTH=12characters",
            "password_hash_algorithm: argon2id",
            "password_hashing_scheme: pbkdf2-sha256",
            "tokenizer: bert-base-uncased-v2",
            "tokenizer_model = o200k_base2",
            "secretary: ann2@example.invalid",
        ],
    ),
];

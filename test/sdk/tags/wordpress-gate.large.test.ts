import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasProgram } from '../../support/has-program.js';
import { titleNeeding } from '../../support/missing-tools.js';

const PLUGIN = fileURLToPath(new URL('../../../docs/examples/wordpress/consent-ledger.php', import.meta.url));
const URL_OF_POST = 'https://www.youtube.com/watch?v=1';
const LINK = `<p><a href="${URL_OF_POST}">${URL_OF_POST}</a></p>`;
const SRC = 'src="https://v.example/1"';
const GATE = 'data-consent="marketing"';
const SHOWN = `${GATE} data-consent-placeholder data-consent-recipient="YouTube (Google Ireland)"`;

/** What the plugin calls of WordPress, and the answers of its gate to the HTML that is piped in. */
const CALLS = `
define( 'ABSPATH', '/' );
function add_action() {} function add_filter() {} function add_shortcode() {} function register_uninstall_hook() {}
function is_feed() { return false; }
function get_option() { return array( 'service' => 'https://consent.example', 'key' => 'svc_live_x' ); }
function wp_parse_url( $url, $part ) { return parse_url( $url, $part ); }
function esc_url( $text ) { return htmlspecialchars( $text ); }
function esc_html( $text ) { return htmlspecialchars( $text ); }
function esc_attr( $text ) { return htmlspecialchars( $text ); }
error_reporting( E_ALL );
set_error_handler( function ( $level, $text ) { throw new ErrorException( $text ); } );
require $argv[1];
$answers = array();
foreach ( json_decode( stream_get_contents( STDIN ) ) as $html ) {
  $answers[] = consent_ledger_gate_embed( base64_decode( $html ), $argv[2] );
}
echo json_encode( $answers, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE );
`;

/** By what it shows, what providers answer, and what the page has then. */
const KEPT_BACK: Readonly<Record<string, readonly [html: string, gated: string]>> = {
  'a frame': [
    `<iframe width="560" height="315" ${SRC} frameborder="0" allow="autoplay; encrypted-media" allowfullscreen title="It's June"></iframe>`,
    `<iframe ${SHOWN} width="560" height="315" data-consent-${SRC} frameborder="0" allow="autoplay; encrypted-media" allowfullscreen="" title="It's June"></iframe>`,
  ],
  'a frame, in words that browsers take too': [
    `<IFRAME\n\tSRC = 'https://v.example/"1"' height=315 >\n</IFRAME >`,
    `<iframe ${SHOWN} data-consent-src="https://v.example/&quot;1&quot;" height="315"></iframe>`,
  ],
  'a post with its script': [
    `<blockquote class="tiktok-embed" cite="https://t.example/1" data-video-id="1" style="max-width: 605px;min-width: 325px;" > <section> <a target="_blank" title="@x > y" href="https://t.example/@x?a=1">@x</a><br /> &mdash; it's </section> </blockquote> <script async src="https://t.example/embed.js" type="text/javascript" charset="utf-8"></script>`,
    `<blockquote class="tiktok-embed" cite="https://t.example/1" data-video-id="1" style="max-width: 605px;min-width: 325px;" > <section> <a target="_blank" title="@x > y" href="https://t.example/@x?a=1">@x</a><br /> &mdash; it's </section> </blockquote> <script type="text/plain" ${GATE} async="" src="https://t.example/embed.js" charset="utf-8"></script>`,
  ],
  'the frame of another WordPress': [
    `<iframe class="wp-embedded-content" sandbox="allow-scripts" security="restricted" style="position: absolute; clip: rect(1px, 1px, 1px, 1px);" ${SRC} data-secret="x"></iframe>`,
    `<iframe ${SHOWN} class="wp-embedded-content" sandbox="allow-scripts" security="restricted" style="position: absolute; clip: rect(1px, 1px, 1px, 1px);" data-consent-${SRC} data-secret="x"></iframe>`,
  ],
  'a shortcode as text': ['<p>[video src="https://v.example/1"]</p>', '<p>&#91;video src="https://v.example/1"]</p>'],
};

const BECOME_A_LINK: readonly string[] = [
  `<iframe title=it's ${SRC}></iframe>`,
  `<script src=https://x.example/a'b.js></script>`,
  `<iframe title=a"b ${SRC}></iframe>`,
  `<iframe title=" src=" x=""/src="https://v.example/1"></iframe>`,
  `<iframe title=""${SRC}></iframe>`,
  `<iframe/${SRC}></iframe>`,
  `<iframe ${SRC}`,
  `<iframe ${SRC}>`,
  `<iframe ${SRC}/>`,
  `<iframe ${SRC}></iframe><iframe`,
  `<iframe ${SRC} src="https://v.example/2"></iframe>`,
  `<iframe ${SRC} srcdoc="<img src=https://v.example/2>"></iframe>`,
  `<iframe srcdoc="x"></iframe>`,
  `<iframe></iframe>`,
  `<iframe ${SRC}><!-- </iframe> --></iframe>`,
  `<iframe ${SRC}></script>`,
  `<iframe onload="fetch('https://v.example/2')" ${SRC}></iframe>`,
  `<iframe data-consent="necessary" ${SRC}></iframe>`,
  `<iframe data-consent-service="x" ${SRC}></iframe>`,
  `<iframe data-src="https://v.example/2" class="lazyload" ${SRC}></iframe>`,
  `<iframe style="background:url(https://v.example/2)" ${SRC}></iframe>`,
  `<iframe\0 ${SRC}></iframe>`,
  `<iframe title="x"\v${SRC}></iframe>`,
  `<iframe title="\xff" ${SRC}></iframe>`,
  `<script>import('https://x.example/a.js')</script>`,
  `<script src="https://x.example/a.js">[audio src="https://x.example/a.mp3"]</script>`,
  `<script src="https://x.example/a.js" onerror="x()"></script>`,
  `<script src="https://x.example/a.js" type="importmap"></script>`,
  `<script type="text/plain" data-consent="necessary" src="https://x.example/a.js"></script>`,
  `<script src="https://x.example/a.js"/>`,
  `<div data-consent-src="https://x.example" data-consent="necessary"></div>`,
  `<div data-bg="https://x.example/a.png" class="lazyload"></div>`,
  `<style>@import url(https://x.example/a.css);</style>`,
  `<p style="background:url(https://x.example/a.png)">x</p>`,
  `<p style="background:u\\72l(https://x.example/a.png)">x</p>`,
  `<p style="background:&#117;rl(https://x.example/a.png)">x</p>`,
  `<p style="background:image-set('https://x.example/a.png' 1x)">x</p>`,
  `<p onmouseover="x()">x</p>`,
  `<a href="javascript:alert(1)">x</a>`,
  `<a href="java&#115;cript:alert(1)">x</a>`,
  `<a ping="https://x.example" href="https://x.example">x</a>`,
  `<table background="https://x.example/a.png"></table>`,
  `<body background="https://x.example/a.png">`,
  `<!-- <iframe ${SRC}></iframe> -->`,
  `<!--><iframe ${SRC}></iframe>-->`,
  `<![CDATA[ <iframe ${SRC}></iframe> ]]>`,
  `<noscript><p title="</noscript><iframe ${SRC}>"></p></noscript>`,
  `<textarea><p title="</textarea><img src=https://x.example/a.png>"></p></textarea>`,
  `<p>a < b</p>`,
  `</script><p>x</p>`,
  ...['img', 'object', 'embed', 'link', 'svg', 'input', 'meta', 'frame', 'video', 'audio', 'source', 'picture'].flatMap(
    (name) => [`<${name} ${SRC}>`, `<${name.toUpperCase()} href="https://x.example/a">`, `<p></p><${name}/${SRC}>`],
  ),
  '<portal src="https://x.example"></portal>',
  '<x-player src="https://x.example"></x-player>',
  '<fencedframe></fencedframe>',
  '<base href="https://x.example/">',
  '<form action="https://x.example"><button>x</button></form>',
];

const hasPhp = await hasProgram('php');

describe.skipIf(!hasPhp)(titleNeeding('PHP', hasPhp, 'the gate of the plugin for WordPress'), () => {
  const gated = new Map<string, unknown>();
  beforeAll(() => {
    const all = [...BECOME_A_LINK, ...Object.values(KEPT_BACK).map(([html]) => html), `<p>${' a'.repeat(500_000)}</p>`];
    const input = JSON.stringify(all.map((html) => Buffer.from(html, 'latin1').toString('base64')));
    const answers: unknown = JSON.parse(
      execFileSync('php', ['-r', CALLS, '--', PLUGIN, URL_OF_POST], { input, encoding: 'utf8' }),
    );
    if (!Array.isArray(answers)) throw new Error('The script answers a list.');
    for (const [index, html] of all.entries()) gated.set(html, answers[index]);
  });

  test.each(Object.entries(KEPT_BACK))('keeps back %s', (_, [html, expected]) => {
    expect(gated.get(html)).toBe(expected);
  });

  test.each(BECOME_A_LINK)('shows a link in place of %j', (html) => {
    expect(gated.get(html)).toBe(LINK);
  });

  test('reads a long post', () => {
    expect([...gated.values()].at(-1)).toHaveLength(1_000_007);
  });
});

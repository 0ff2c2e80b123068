import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../support/free-port.js';
import { hasProgram } from '../../support/has-program.js';

/** Where the package `wordpress` of Debian puts its files. */
const INSTALLED = '/usr/share/wordpress';
const PLUGIN = fileURLToPath(new URL('../../../docs/examples/wordpress/consent-ledger.php', import.meta.url));
const run = promisify(execFile);

/** What YouTube answers for a video (oEmbed), as WordPress asks it when a post is shown. */
const YOUTUBE = {
  version: '1.0',
  type: 'video',
  provider_name: 'YouTube',
  title: 'Our garden in June',
  width: 560,
  height: 315,
  html: '<iframe width="560" height="315" src="https://www.youtube.com/embed/M7lc1UVf-VE?feature=oembed" frameborder="0" allow="autoplay; encrypted-media" allowfullscreen title="Our garden in June"></iframe>',
};
/** What a provider must not bring along: a frame whose title has a lone quote, and a shortcode. */
const HOSTILE = {
  ...YOUTUBE,
  html: `<iframe title=it's src="https://www.youtube.com/embed/hostile"></iframe>`,
};
const SHORTCODE = {
  ...YOUTUBE,
  html: `<p title="[audio src='https://www.youtube.com/a.mp3']">[audio src="https://www.youtube.com/a.mp3"]</p>`,
};

/** Answers WordPress in place of YouTube, whom the test does not ask, and lets it ask nobody else. */
const RECORDED = `<?php
add_filter( 'pre_http_request', function ( $answer, $arguments, $url ) {
  if ( 0 !== strpos( $url, 'https://www.youtube.com/oembed' ) ) return new WP_Error( 'http_request_failed', 'no network' );
  $body = false !== strpos( $url, 'hostile' ) ? ${phpText(HOSTILE)} : ( false !== strpos( $url, 'shortcode' ) ? ${phpText(SHORTCODE)} : ${phpText(YOUTUBE)} );
  return array( 'headers' => array(), 'body' => $body, 'response' => array( 'code' => 200, 'message' => 'OK' ), 'cookies' => array(), 'filename' => null );
}, 10, 3 );
add_action( 'wp_head', function () { echo '<script>window.firstTag = JSON.stringify(window.dataLayer ?? null);</script>'; }, 0 );
`;
const THEME = `<!doctype html><html <?php language_attributes(); ?>><head><?php wp_head(); ?></head>
<body><?php while ( have_posts() ) { the_post(); the_title( '<h1>', '</h1>' ); the_content(); } ?>
<footer><?php echo do_shortcode( '[consent_settings]' ); ?></footer><?php wp_footer(); ?></body></html>`;

/** A value as JSON, in a text of PHP. */
function phpText(value: unknown): string {
  return `'${JSON.stringify(value).replace(/[\\']/g, '\\$&')}'`;
}

/** Whether WordPress, PHP and MariaDB are installed, as `apt-get install wordpress php-cli php-mysql mariadb-server` does. */
export async function hasWordPress(): Promise<boolean> {
  const programs = await Promise.all(['php', 'mariadbd', 'mariadb-install-db'].map(hasProgram));
  return existsSync(join(INSTALLED, 'wp-load.php')) && programs.every(Boolean);
}

/** A new site of WordPress with the plugin, on a database of its own. */
export class WordPressSite {
  private constructor(
    readonly origin: string,
    private readonly folder: string,
    private readonly processes: readonly ChildProcess[],
  ) {}

  static async open(): Promise<WordPressSite> {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-wordpress-'));
    const [data, site, socket] = [join(folder, 'data'), join(folder, 'site'), join(folder, 'socket')];
    const port = await freePort();
    const user = ['--no-defaults', `--datadir=${data}`, ...(process.getuid?.() === 0 ? ['--user=root'] : [])];
    await run('mariadb-install-db', [...user, '--auth-root-authentication-method=normal', '--skip-test-db']);
    const database = spawn('mariadbd', [...user, `--socket=${socket}`, '--skip-networking'], { stdio: 'ignore' });

    await cp(INSTALLED, site, {
      recursive: true,
      filter: (path) => !/\/(?:wp-includes|wp-content|wp-config\.php)$/.test(path),
      dereference: true,
    });
    await symlink(join(INSTALLED, 'wp-includes'), join(site, 'wp-includes'));
    const content = join(site, 'wp-content');
    for (const name of ['themes/plain', 'plugins', 'mu-plugins']) await mkdir(join(content, name), { recursive: true });
    await cp(PLUGIN, join(content, 'plugins/consent-ledger.php'));
    await writeFile(join(content, 'mu-plugins/recorded.php'), RECORDED);
    await writeFile(join(content, 'themes/plain/style.css'), '/* Theme Name: Plain */');
    await writeFile(join(content, 'themes/plain/index.php'), THEME);
    const origin = `http://127.0.0.1:${port}`;
    await writeFile(join(site, 'wp-config.php'), configuration(origin, socket));
    const setUp = join(folder, 'set-up.php');
    await writeFile(setUp, setUpScript(site));
    // One process, which ends when it is killed: workers of PHP would outlive it.
    const web = spawn('php', ['-d', 'display_errors=0', '-S', `127.0.0.1:${port}`, '-t', site], { stdio: 'ignore' });
    const opened = new WordPressSite(origin, folder, [web, database]);
    await run('php', [setUp], { timeout: 60_000 }).catch(async (error: unknown) => {
      await opened.close();
      throw error;
    });
    return opened;
  }

  async close(): Promise<void> {
    for (const child of this.processes) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((resolve) => child.once('exit', resolve));
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

function configuration(origin: string, socket: string): string {
  return `<?php
define( 'DB_NAME', 'wordpress' ); define( 'DB_USER', 'root' ); define( 'DB_PASSWORD', '' );
define( 'DB_HOST', 'localhost:${socket}' ); define( 'DB_CHARSET', 'utf8mb4' ); define( 'DB_COLLATE', '' );
define( 'WP_HOME', '${origin}' ); define( 'WP_SITEURL', '${origin}' );
define( 'DISABLE_WP_CRON', true ); define( 'AUTOMATIC_UPDATER_DISABLED', true ); define( 'WP_DEBUG', true ); define( 'WP_DEBUG_DISPLAY', false );
define( 'WP_DEBUG_LOG', dirname( __DIR__ ) . '/debug.log' );
$table_prefix = 'wp_';
if ( ! defined( 'ABSPATH' ) ) define( 'ABSPATH', __DIR__ . '/' );
require_once ABSPATH . 'wp-settings.php';
`;
}

/** Waits for the database, installs WordPress, and writes a post with a video. The user and the password are "owner". */
function setUpScript(site: string): string {
  return `<?php
mysqli_report( MYSQLI_REPORT_OFF );
define( 'WP_INSTALLING', true );
$_SERVER['HTTP_HOST'] = '127.0.0.1';
for ( $i = 0; $i < 300; $i++ ) {
  $link = @mysqli_connect( 'localhost', 'root', '', '', 0, '${site.replace(/site$/, 'socket')}' );
  if ( $link ) break;
  usleep( 100000 );
}
mysqli_query( $link, 'create database wordpress' );
require '${site}/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install( 'Garden', 'owner', 'owner@example.test', false, '', 'owner' );
switch_theme( 'plain' );
update_option( 'active_plugins', array( 'consent-ledger.php' ) );
wp_insert_post( array( 'ID' => 1, 'post_title' => 'June', 'post_status' => 'publish', 'post_content' => "A film.\\n\\nhttps://www.youtube.com/watch?v=M7lc1UVf-VE\\n\\nBye." ) );
wp_insert_post( array( 'post_title' => 'July', 'post_status' => 'publish', 'post_content' => "https://www.youtube.com/watch?v=hostile\\n\\nhttps://www.youtube.com/watch?v=shortcode" ) );
`;
}

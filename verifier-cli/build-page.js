// Builds the verifier as one HTML file that works from disk without a network, and the same for the
// service to serve, with its look-up beside it. There, a small script shows the answer of the look-up,
// and the verifier follows as a file of its own.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const page = (name) => join(here, 'src/browser', name);

/** Modules that stand on Node, and what takes their place. */
const SEAMS = new Map(
  [
    ['../schemas/crypto/binary-text.ts', '../schemas/crypto/browser/binary-text.ts'],
    ['../schemas/crypto/digest.ts', '../schemas/crypto/browser/digest.ts'],
    ['../schemas/crypto/ed25519.ts', '../schemas/crypto/browser/ed25519.ts'],
    ['../schemas/crypto/signature-verification.ts', '../schemas/crypto/browser/signature-verification.ts'],
    ['src/container/inflate.ts', 'src/container/browser/inflate.ts'],
    ['src/container/crc32.ts', 'src/container/browser/crc32.ts'],
  ].map(([from, to]) => [resolve(here, from), resolve(here, to)]),
);

const seams = {
  name: 'browser seams',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, importer }) => {
      const source = resolve(dirname(importer), path.replace(/\.js$/, '.ts'));
      return SEAMS.has(source) ? { path: SEAMS.get(source) } : undefined;
    });
  },
};

/**
 * @param around code before and after the script
 * @returns the script of an entry point, and the files in it
 */
async function bundle(entry, [before, after] = ['', '']) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: here,
    entryPoints: [page(entry)],
    bundle: true,
    write: false,
    outfile: 'script.js',
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: before },
    footer: { js: after },
    metafile: true,
    plugins: [seams],
    logLevel: 'warning',
  });
  return { script: outputFiles[0].text, inputs: Object.keys(metafile.inputs) };
}

/** The exports of a module of the sources. @param path relative to the folder of the verifier */
export async function load(path) {
  const { outputFiles } = await build({
    entryPoints: [join(here, path)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  return await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** Writes the English texts into a page, for readers without scripts and for search engines. */
function withTexts(html, standing) {
  const textOf = (name) => {
    if (standing[name] === undefined) throw new Error(`the page names the text ${name}, which does not exist`);
    return standing[name].replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  };
  return html
    .replace(/(<[^<>]* data-text="(\w+)"[^<>]*>)(?=<\/)/g, (_, tag, name) => tag + textOf(name))
    .replace(/ data-label="(\w+)"/g, (label, name) => `${label} aria-label="${textOf(name)}"`);
}

const sha256 = (text) => createHash('sha256').update(text);
const integrity = (text) => `sha256-${sha256(text).digest('base64')}`;

/**
 * @param notices turns the files of a bundle into the licences of the libraries in it
 * @returns `standalone` connects to nothing; `served` may ask the service that it comes from, and
 *   nothing else. `verifier` is the file that it loads. `scripts` are the verifiers of the two pages by name, `inputs`
 *   the files in all.
 */
export async function buildPages(notices) {
  const [template, css, lookup, published, style] = await Promise.all([
    readFile(page('page.template'), 'utf8'),
    readFile(page('page.css'), 'utf8'),
    readFile(page('lookup.template'), 'utf8'),
    readFile(page('published-trust.template'), 'utf8'),
    Promise.all([load('src/report/style.ts'), load('src/show/certificate-style.ts')]).then(
      ([{ REPORT_STYLE }, { CERTIFICATE_STYLE }]) => REPORT_STYLE + CERTIFICATE_STYLE,
    ),
  ]);
  const { page: texts } = await load('src/i18n/en/page.ts');
  const alone = await bundle('alone-page.ts');
  const answer = await bundle('answer-page.ts');
  // Its tasks take long on a phone, so they wait until the answer is there.
  const withLookup = await bundle('served-page.ts', ['answerPainted.then(()=>{', '});']);
  const licences = (await notices(withLookup.inputs)).replaceAll('--', '- ');
  const fill = (script, connect, { privacy, published, section, verifier }) => {
    const styles = style + css;
    const policy = [
      "default-src 'none'",
      `script-src ${[script, ...(verifier === '' ? [] : [verifier])].map((one) => `'${integrity(one)}'`).join(' ')}`,
      `style-src '${integrity(styles)}'`,
      // The picture of a signature is in the page itself, and never an SVG.
      'img-src data:',
      `connect-src ${connect}`,
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; ');
    const values = {
      POLICY: policy,
      STYLE: styles,
      TITLE: texts.standing.title,
      DESCRIPTION: texts.standing.lead,
      PRIVACY: privacy,
      PUBLISHED: published,
      LOOKUP: section,
      SCRIPT: script,
      VERIFIER:
        verifier === ''
          ? ''
          : // The digest in the address keeps a cache from giving the file of another version.
            `<script defer fetchpriority="low" src="/verify/verify-page.js?sha256=${sha256(verifier).digest('hex')}" integrity="${integrity(verifier)}"></script>\n`,
      NOTICES: licences,
    };
    return withTexts(
      template.replace(/\{\{(LOOKUP|PRIVACY|PUBLISHED)\}\}/g, (_, name) => values[name]),
      texts.standing,
    ).replace(/\{\{([A-Z]+)\}\}/g, (_, name) => values[name]);
  };
  return {
    verifier: withLookup.script,
    scripts: { 'script of consent-verify.html': alone.script, 'verify-page.js': withLookup.script },
    standalone: fill(alone.script, "'none'", {
      privacy: '<span data-text="privateAlone"></span>',
      published: '',
      section: '',
      verifier: '',
    }),
    served: fill(answer.script, "'self'", {
      privacy:
        '<span data-text="privateServed"></span> <a href="/verify/consent-verify.html" download data-text="privateSave"></a> <span data-text="privateOffline"></span>',
      published,
      section: lookup,
      verifier: withLookup.script,
    }),
    inputs: [...new Set([alone, answer, withLookup].flatMap(({ inputs }) => inputs))],
  };
}

// Packs the service, after a build: node scripts/release/pack-service.js FOLDER
// The package has all that `npx consent-ledger serve` needs: programs, migrations, and the packages of the project
// that the service serves. npm adds the libraries with native parts, and the embedded PostgreSQL where it may.
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/release/pack-service.js FOLDER');
/** What `scripts/build-service.js` leaves outside of the bundle. */
const LIBRARIES = ['@eventstore/db-client', '@ip-location-db/geo-whois-asn-country-mmdb', '@node-rs/argon2'];
/** Packages of the project that the service finds by their names, with what it serves of them. */
const SERVED = { 'sdk/browser': ['dist', 'LICENSE'], dashboard: ['dist'], 'verifier-cli': ['bin', 'dist', 'LICENSE'] };

const staging = await mkdtemp(join(tmpdir(), 'consent-ledger-pack-'));
try {
  const own = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  execFileSync(process.execPath, [join(root, 'scripts/build-service.js'), join(staging, 'dist')], { stdio: 'inherit' });
  await cp(join(root, 'dist/openapi'), join(staging, 'dist/openapi'), { recursive: true });
  for (const name of ['bin/consent-ledger.js', 'LICENSE', 'README.md', 'CHANGELOG.md'])
    await cp(join(root, name), join(staging, name));
  const dependencies = Object.fromEntries(LIBRARIES.map((name) => [name, own.dependencies[name]]));
  const bundled = [];
  for (const [path, files] of Object.entries(SERVED)) {
    const content = JSON.parse(await readFile(join(root, path, 'package.json'), 'utf8'));
    const { scripts, devDependencies, ...kept } = content;
    const to = join(staging, 'node_modules', content.name);
    for (const file of files) await cp(join(root, path, file), join(to, file), { recursive: true });
    await writeFile(join(to, 'package.json'), `${JSON.stringify(kept, null, 2)}\n`);
    dependencies[content.name] = content.version;
    bundled.push(content.name);
  }
  const { name, version, description, license, type, imports, engines, optionalDependencies } = own;
  const { repository, homepage, bugs } = own;
  await writeFile(
    join(staging, 'package.json'),
    `${JSON.stringify(
      {
        name,
        version,
        description,
        license,
        repository,
        homepage,
        bugs,
        type,
        imports,
        engines,
        publishConfig: { access: 'public' },
        bin: { 'consent-ledger': 'bin/consent-ledger.js' },
        files: ['bin', 'dist', 'LICENSE', 'README.md', 'CHANGELOG.md'],
        dependencies,
        optionalDependencies,
        bundleDependencies: bundled,
      },
      null,
      2,
    )}\n`,
  );
  execFileSync('npm', ['pack', '--silent', '--pack-destination', resolve(folder)], { cwd: staging, stdio: 'pipe' });
} finally {
  await rm(staging, { recursive: true, force: true });
}

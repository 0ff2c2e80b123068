import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { cycleOf, fileGraph, foldGraph, importsOf, ROOT, sourceFiles } from './import-graph.js';

/**
 * The folders of `src` that each folder may import. A name without a slash stands for all that lies
 * below it. A folder that is not listed here must be added before it can exist: that is the moment to
 * decide where it belongs.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'platform/audit-log.ts': ['platform/database'],
  'platform/background': ['platform/health.ts'],
  'platform/caches.ts': ['platform/deferred.ts'],
  'platform/clock.ts': ['platform/background', 'platform/database'],
  'platform/config': ['platform/database', 'platform/net'],
  'platform/database': ['platform/deferred.ts', 'platform/net'],
  'platform/deferred.ts': [],
  'platform/event-ids.ts': ['platform/keys'],
  'platform/errors.ts': [],
  'platform/export-states.ts': ['platform/database'],
  'platform/files.ts': [],
  'platform/health.ts': [],
  'platform/keys': [
    'platform/caches.ts',
    'platform/config',
    'platform/database',
    'platform/errors.ts',
    'platform/files.ts',
  ],
  'platform/accepted-languages.ts': [],
  'platform/net': [],
  'platform/jurisdiction': ['platform/net'],
  'platform/telemetry': ['platform/config'],
  'platform/version.ts': [],

  'accounts/credentials': ['platform'],
  'accounts/users': ['platform', 'accounts/credentials'],
  'accounts/mail': ['platform'],
  'accounts/passkeys': ['platform', 'accounts/users'],
  'accounts/second-factor': [
    'platform',
    'accounts/credentials',
    'accounts/mail',
    'accounts/users',
    'accounts/passkeys',
  ],
  'accounts/sign-up': ['platform', 'accounts/credentials', 'accounts/mail'],
  'accounts/sign-in': ['platform', 'accounts/credentials', 'accounts/users', 'accounts/mail'],

  'tenancy/tenants': ['platform'],
  'tenancy/sites': ['platform'],
  'tenancy/api-keys': ['platform', 'tenancy/sites'],
  'tenancy/webhooks': ['platform', 'tenancy/sites'],
  'tenancy/documents': ['platform', 'tenancy/sites'],
  'tenancy/configuration': ['platform', 'tenancy/sites'],
  'tenancy/domains': ['platform', 'tenancy/sites', 'tenancy/configuration'],
  'tenancy/directory': ['platform', 'tenancy/api-keys', 'tenancy/documents', 'tenancy/sites'],
  'tenancy/scans': ['platform', 'tenancy/directory', 'tenancy/sites'],

  'timestamping/development-tsa': ['platform'],
  timestamping: ['platform', 'timestamping/development-tsa'],

  'pipeline/event-log': ['platform'],
  'pipeline/admission': ['platform', 'tenancy/directory', 'pipeline/ledger'],
  'pipeline/importer': ['platform', 'tenancy/directory', 'pipeline/admission'],
  'pipeline/relay': ['platform', 'pipeline/event-log', 'pipeline/ledger'],
  'pipeline/projector': ['platform', 'pipeline/event-log'],
  'pipeline/ledger': ['platform', 'pipeline/event-log'],
  'pipeline/sealer': ['platform', 'pipeline/event-log', 'pipeline/ledger'],
  'pipeline/stamper': ['platform', 'timestamping', 'pipeline/event-log', 'pipeline/ledger', 'pipeline/sealer'],
  'pipeline/webhooks': ['platform', 'tenancy/webhooks', 'pipeline/event-log'],
  'pipeline/cosigner': ['platform', 'timestamping', 'pipeline/ledger'],

  erasure: ['platform', 'pipeline/event-log', 'pipeline/ledger'],

  'evidence/package': ['platform', 'timestamping', 'pipeline/event-log', 'pipeline/ledger', 'erasure'],
  'evidence/structure': ['platform', 'pipeline/ledger'],
  'evidence/exports': ['platform', 'pipeline/event-log', 'evidence/package'],
  'evidence/verification': ['platform', 'pipeline/event-log', 'pipeline/ledger'],
  'evidence/records': [
    'platform',
    'tenancy/directory',
    'timestamping',
    'pipeline/event-log',
    'pipeline/ledger',
    'erasure',
    'evidence/package',
    'evidence/verification',
  ],

  // Its one table translates the errors of the event log, too.
  'api/server': [
    'platform',
    'accounts/mail',
    'accounts/users',
    'tenancy/api-keys',
    'tenancy/directory',
    'pipeline/admission',
    'pipeline/event-log',
    'evidence/exports',
  ],
  'api/guards': ['platform', 'accounts', 'tenancy', 'pipeline/admission', 'api/server'],
  'api/tool': ['platform', 'accounts', 'tenancy', 'pipeline', 'erasure', 'evidence', 'api/server', 'api/guards'],
  'api/auth': ['platform', 'accounts', 'api/server', 'api/guards'],
  'api/public': ['platform', 'tenancy', 'evidence', 'api/server', 'api/guards', 'api/tool'],
  'api/panel': [
    'platform',
    'accounts',
    'tenancy',
    'timestamping',
    'pipeline',
    'erasure',
    'evidence',
    'api/server',
    'api/guards',
    'api/tool',
  ],
  'api/checkpoints': ['platform', 'pipeline/ledger', 'evidence', 'api/server', 'api/guards'],
  'api/openapi': [
    'platform/config',
    'api/server',
    'api/guards',
    'api/tool',
    'api/auth',
    'api/public',
    'api/panel',
    'api/checkpoints',
  ],
  'api/discovery': ['platform', 'api/server', 'api/openapi'],

  audit: [
    'platform',
    'pipeline/event-log',
    'pipeline/ledger',
    'pipeline/projector',
    'pipeline/relay',
    'evidence/exports',
  ],

  'app/metrics': ['platform', 'tenancy', 'pipeline', 'erasure', 'api'],
  app: [
    'platform',
    'accounts',
    'tenancy',
    'timestamping',
    'pipeline',
    'erasure',
    'evidence',
    'audit',
    'api',
    'app/metrics',
  ],

  'demo/seed': ['platform', 'accounts', 'tenancy'],
  demo: ['platform', 'demo/seed'],

  'cli/command': ['platform', 'api/panel', 'app'],
  'cli/admin': [
    'platform',
    'accounts',
    'tenancy',
    'pipeline',
    'erasure',
    'evidence',
    'audit',
    'api/panel',
    'app',
    'demo/seed',
    'cli/command',
  ],
  'cli/operations': ['accounts', 'tenancy', 'api/server', 'api/openapi', 'api/panel', 'app', 'cli/command'],
  cli: [
    'platform',
    'tenancy',
    'pipeline',
    'evidence',
    'audit',
    'app',
    'demo',
    'demo/seed',
    'cli/admin',
    'cli/command',
    'cli/operations',
  ],
  'main.ts': ['cli'],
};

/** `pipeline/relay` for src/pipeline/relay/relay.ts, `app` for src/app/worker.ts, `main.ts` for src/main.ts. */
function folderOf(file: string): string {
  const parts = file.split('/').slice(1);
  const folder = parts.slice(0, -1).slice(0, 2).join('/');
  return folder === '' || folder === 'platform' ? parts.join('/') : folder;
}

const files = fileGraph('src');
const folders = foldGraph(files, folderOf);

const covers = (allowed: string, folder: string): boolean =>
  folder === allowed || (!allowed.includes('/') && folder.startsWith(`${allowed}/`));

test('every folder imports only what the table allows', () => {
  const refused = [...folders].flatMap(([folder, targets]) =>
    [...targets]
      .filter((target) => !(MAY_IMPORT[folder] ?? []).some((allowed) => covers(allowed, target)))
      .map((target) => `${folder} -> ${target}`),
  );
  expect(refused).toEqual([]);
});

test('the table lists the folders that exist, and no others', () => {
  expect(Object.keys(MAY_IMPORT).sort()).toEqual([...folders.keys()].sort());
});

test('the table itself has no cycle', () => {
  const names = Object.keys(MAY_IMPORT);
  const table = new Map(
    names.map((name) => [
      name,
      new Set(
        names.filter((other) => other !== name && (MAY_IMPORT[name] ?? []).some((allowed) => covers(allowed, other))),
      ),
    ]),
  );
  expect(cycleOf(table)).toBeNull();
});

test('no file of src imports itself through others', () => {
  expect(cycleOf(files)).toBeNull();
});

test('no folder of src imports itself through others, at any depth', () => {
  for (const depth of [1, 2, 3]) {
    const nameOf = (file: string): string => {
      const parts = file.split('/').slice(1);
      // A file above that depth stands for itself: it may compose the folders beside it.
      return parts.length <= depth ? file : parts.slice(0, depth).join('/');
    };
    expect(cycleOf(foldGraph(files, nameOf)), `${depth} deep`).toBeNull();
  }
});

test('finds a cycle where there is one', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['b'])],
  ]);
  expect(cycleOf(graph)).toEqual(['b', 'c', 'b']);
});

test('only src/api makes HTTP errors, and only HTTP code knows Fastify', () => {
  const outside = importsOf('src').filter(
    ({ file, specifier }) => specifier === 'fastify' && !/^src\/(?:api|app|platform\/telemetry)\//.test(file),
  );
  expect(outside).toEqual([]);
});

test('only src/api knows errors with an HTTP status; the domain throws RequestRefused', () => {
  const found = sourceFiles('src').filter(
    (file) => !file.startsWith('src/api/') && /\bApiError\b/.test(readFileSync(resolve(ROOT, file), 'utf8')),
  );
  expect(found).toEqual([]);
});

/** The folders of the verifier, in the order in which an auditor can read them: each imports only those before it. */
const VERIFIER_ORDER = `
  version.ts findings trust work container i18n files rendering ledger versions batches list policy timestamps time
  entries completeness manifest promises report compare documents show records ts27560 verify-package.ts index.ts
  browser cli main.ts
  network/bounded-fetch.ts network/durable-file.ts network/service.ts network/structure network/watch network/witness
  network/main.ts`
  .trim()
  .split(/\s+/);

test('every folder of the verifier imports only those before it', () => {
  const place = (file: string): string => {
    const [first = '', second = ''] = file.split('/').slice(2);
    return first === 'network' ? `network/${second}` : first;
  };
  const graph = foldGraph(fileGraph('verifier-cli/src'), place);
  const rank = (name: string): number => VERIFIER_ORDER.indexOf(name);
  expect([...graph.keys()].sort()).toEqual([...VERIFIER_ORDER].sort());
  const backward = [...graph].flatMap(([from, targets]) =>
    [...targets].filter((to) => rank(to) > rank(from)).map((to) => `${from} -> ${to}`),
  );
  expect(backward).toEqual([]);
});

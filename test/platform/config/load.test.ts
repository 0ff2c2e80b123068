import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseWitnessKey } from '../../../schemas/evidence/cosignature.js';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { configurationDocument } from '../../../src/platform/config/documentation.js';
import { type Environment, loadConfig } from '../../../src/platform/config/index.js';
import { ConfigError } from '../../../src/platform/config/load.js';
import { descriptions, variables } from '../../../src/platform/config/variables.js';

const W1 = formatVerifierKey('w1.example/a', new Uint8Array(32).fill(1), 4);
const W1_ML_DSA = formatVerifierKey('w1.example/a', new Uint8Array(1312).fill(1), 6);
const W2 = formatVerifierKey('w2.example', new Uint8Array(32).fill(2), 4);

function problemsOf(env: Environment): Record<string, string> {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return Object.fromEntries(error.problems.map((p) => [p.name, p.problem]));
    throw error;
  }
  return {};
}

describe('loadConfig', () => {
  it('defaults to the embedded installation in ./data', () => {
    expect(loadConfig({})).toEqual({
      dataDir: resolve('data'),
      database: { url: undefined, poolSize: 10 },
      eventStoreUrl: undefined,
      timestamping: undefined,
      masterKey: { kind: 'generated', path: resolve('data/master.key') },
      http: {
        host: '127.0.0.1',
        port: 8080,
        processes: Math.max(1, Math.floor(availableParallelism() / 4)),
        scannerHost: undefined,
        trustedProxies: [],
        lameDuckMs: 1_000,
        drainGraceMs: 10_000,
      },
      webhookNetworks: [],
      scans: { chromePath: undefined, allowedNetworks: [] },
      discovery: { publicUrl: undefined, securityContacts: [] },
      mail: undefined,
      isSignUpOpen: false,
      geo: { countryHeader: undefined, regionHeader: undefined, databaseFile: undefined },
      dnsServers: [],
      ledgerOrigin: 'localhost/consent-ledger',
      batch: { maxEvents: 4096, maxAgeMs: 10_000 },
      stampIntervalMs: 60_000,
      witnesses: [],
      policy: { sealWithinSeconds: 600, stampWithinSeconds: 3600, stated: {} },
      admission: { maxGroup: 100, maxInProgress: 1000, batchBodyBytes: 8_388_608 },
      outbox: { maxRows: 500_000, retentionHours: 24 },
      erasureJournal: resolve('data/erasures.ndjson'),
      erasureAnnounceIntervalMs: 3_600_000,
      backupRetentionDays: undefined,
      exports: { retentionHours: 72, maxBytes: 10_737_418_240, maxPerTenant: 20 },
      limits: { invalidKeys: 30, publicVerify: 30, ipv6ClientPrefix: 64 },
      structureAuditors: [],
      metricsToken: undefined,
      tracing: undefined,
      logLevel: 'info',
      logFormat: undefined,
    });
  });

  it('reads every variable', () => {
    const key = Buffer.alloc(32, 7);
    const config = loadConfig({
      DATABASE_URL: 'postgresql://u:p@h/d',
      DATABASE_POOL_SIZE: '20',
      API_PROCESSES: '3',
      EVENTSTORE_URL: 'esdb://a:2113,b:2113,c:2113?tls=false',
      TSA_URLS: 'https://a.example/tsr , http://b.example',
      TSA_QUORUM: '2',
      TSA_CA_FILE: '/roots.pem',
      MASTER_KEY: key.toString('base64'),
      DATA_DIR: '/srv/ledger',
      HOST: '0.0.0.0',
      PORT: '0',
      PUBLIC_URL: 'https://Consent.example.org:443/',
      SMTP_URL: 'smtps://mail.example.org',
      MAIL_FROM: 'ledger@example.org',
      SIGN_UP: 'open',
      SECURITY_CONTACT: 'mailto:security@example.org, https://example.org/report?a=b',
      SCANNER_HOST: 'Scan.example.org',
      CHROME_PATH: '/opt/chromium',
      SCAN_NETWORKS: '10.9.0.0/16',
      LAME_DUCK_MS: '15000',
      DRAIN_GRACE_MS: '0',
      TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,192.0.2.7',
      GEO_COUNTRY_HEADER: 'CF-IPCountry',
      GEO_REGION_HEADER: 'CF-Region-Code',
      GEO_DATABASE_FILE: '/geo/city.mmdb',
      DNS_SERVERS: '192.0.2.53,[2001:db8::53]:5353',
      LEDGER_ORIGIN: 'consent.example.org/ledger',
      BATCH_MAX_EVENTS: '8192',
      BATCH_MAX_AGE_MS: '500',
      STAMP_INTERVAL_MS: '250',
      WITNESS_URLS: 'https://w1.example/a/, http://w2.example',
      WITNESS_KEYS: `${W1},${W2},${W1_ML_DSA}`,
      SEAL_WITHIN_SECONDS: '60',
      STAMP_WITHIN_SECONDS: '300',
      OPERATOR_LEGAL_NAME: 'Örnek Defter A.Ş.',
      QUALIFIED_STAMPS: '[{"organization":"Example Trust","trusted_list":"https://tl.example/at"}]',
      ADMISSION_MAX_GROUP: '50',
      BATCH_BODY_MAX_BYTES: '33554432',
      ADMISSION_MAX_IN_PROGRESS: '500',
      OUTBOX_MAX_ROWS: '1000',
      OUTBOX_RETENTION_HOURS: '0',
      ERASURE_JOURNAL: '/journal/e.ndjson',
      ERASURE_ANNOUNCE_INTERVAL_SECONDS: '60',
      BACKUP_RETENTION_DAYS: '35',
      EXPORT_RETENTION_HOURS: '24',
      EXPORT_MAX_BYTES: '1000000',
      EXPORT_MAX_PER_TENANT: '5',
      INVALID_KEY_LIMIT: '5',
      PUBLIC_VERIFY_LIMIT: '6',
      IPV6_CLIENT_PREFIX: '56',
      STRUCTURE_AUDITORS: `${'0'.repeat(64)}, ${'f'.repeat(64)}`,
      METRICS_TOKEN: '0123456789abcdef0123456789abcdef',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, x-scope=a=b',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_SERVICE_NAME: 'ledger',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      LOG_LEVEL: 'warn',
    });
    expect(config).toEqual({
      dataDir: '/srv/ledger',
      database: { url: 'postgresql://u:p@h/d', poolSize: 20 },
      eventStoreUrl: 'esdb://a:2113,b:2113,c:2113?tls=false',
      timestamping: { urls: ['https://a.example/tsr', 'http://b.example'], caFile: '/roots.pem', quorum: 2 },
      masterKey: { kind: 'given', key },
      http: {
        host: '0.0.0.0',
        port: 0,
        processes: 3,
        scannerHost: 'scan.example.org',
        trustedProxies: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'],
        lameDuckMs: 15_000,
        drainGraceMs: 0,
      },
      webhookNetworks: [],
      scans: { chromePath: '/opt/chromium', allowedNetworks: ['10.9.0.0/16'] },
      discovery: {
        publicUrl: 'https://consent.example.org',
        securityContacts: ['mailto:security@example.org', 'https://example.org/report?a=b'],
      },
      mail: {
        smtp: { host: 'mail.example.org', port: 465, isTlsFromStart: true, demandsTls: false, auth: undefined },
        from: { name: '', address: 'ledger@example.org' },
        publicUrl: 'https://consent.example.org',
      },
      isSignUpOpen: true,
      geo: { countryHeader: 'CF-IPCountry', regionHeader: 'CF-Region-Code', databaseFile: '/geo/city.mmdb' },
      dnsServers: ['192.0.2.53', '[2001:db8::53]:5353'],
      ledgerOrigin: 'consent.example.org/ledger',
      batch: { maxEvents: 8192, maxAgeMs: 500 },
      stampIntervalMs: 250,
      witnesses: [
        { url: 'https://w1.example/a/', name: 'w1.example/a', keys: [parseWitnessKey(W1), parseWitnessKey(W1_ML_DSA)] },
        { url: 'http://w2.example', name: 'w2.example', keys: [parseWitnessKey(W2)] },
      ],
      policy: {
        sealWithinSeconds: 60,
        stampWithinSeconds: 300,
        stated: {
          operator: { legal_name: 'Örnek Defter A.Ş.' },
          qualified_stamps: [{ organization: 'Example Trust', trusted_list: 'https://tl.example/at' }],
        },
      },
      admission: { maxGroup: 50, maxInProgress: 500, batchBodyBytes: 33_554_432 },
      outbox: { maxRows: 1000, retentionHours: 0 },
      erasureJournal: '/journal/e.ndjson',
      erasureAnnounceIntervalMs: 60_000,
      backupRetentionDays: 35,
      exports: { retentionHours: 24, maxBytes: 1_000_000, maxPerTenant: 5 },
      limits: { invalidKeys: 5, publicVerify: 6, ipv6ClientPrefix: 56 },
      structureAuditors: ['0'.repeat(64), 'f'.repeat(64)],
      metricsToken: '0123456789abcdef0123456789abcdef',
      tracing: {
        url: 'http://collector:4318/v1/traces',
        headers: { authorization: 'Bearer x', 'x-scope': 'a=b' },
        timeoutMs: 500,
        serviceName: 'ledger',
        resourceAttributes: { 'deployment.environment.name': 'test' },
        sampler: 'parentbased_traceidratio',
        samplerRatio: 0.25,
      },
      logLevel: 'warn',
    });
  });

  it('reads the master key as hexadecimal, base64 or base64url, or from a file', () => {
    const key = Buffer.alloc(32, 0xfb);
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(loadConfig({ MASTER_KEY: ` ${key.toString(encoding)}\n` }).masterKey).toEqual({ kind: 'given', key });
    }
    expect(loadConfig({ MASTER_KEY_FILE: '/run/k' }).masterKey).toEqual({ kind: 'file', path: '/run/k' });
  });

  it('takes several hosts of PostgreSQL, and says what to write in place of what it cannot do', () => {
    const list = 'postgresql://u:p@a:5432,b:5432,c/d?target_session_attrs=read-write';
    expect(loadConfig({ DATABASE_URL: list }).database.url).toBe(list);
    const problemOf = (url: string): string => JSON.stringify(problemsOf({ DATABASE_URL: url }));
    expect(problemOf('postgresql://u@a,b/d?target_session_attrs=prefer-standby')).toContain('than read-write');
    expect(problemOf('postgresql://u@/d?host=a,b')).toContain('postgresql://user@a:5432,b:5432/database');
    expect(problemOf('postgresql://u@a:5432,b:no/d')).toContain('separated by commas');
  });

  it('counts a blank variable as not set', () => {
    expect(loadConfig({ PORT: ' ', DATABASE_URL: '' })).toEqual(loadConfig({}));
  });

  it('reports every problem with an example, and echoes no value', () => {
    const secret = 'hunter2';
    const env = {
      DATABASE_URL: `mysql://u:${secret}@h/d`,
      EVENTSTORE_URL: `http://u:${secret}@h`,
      MASTER_KEY: secret,
      PORT: '65536',
      BATCH_MAX_EVENTS: '8193',
      BATCH_MAX_AGE_MS: '1e3',
      TRUSTED_PROXIES: '10.0.0.0/33',
      LOG_LEVEL: secret,
      LEDGER_ORIGIN: 'has space',
      SCANNER_HOST: 'https://x',
      METRICS_TOKEN: secret,
      OTEL_EXPORTER_OTLP_ENDPOINT: `ftp://${secret}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization:${secret}`,
      OTEL_RESOURCE_ATTRIBUTES: `a=%${secret}`,
      OTEL_TRACES_SAMPLER: secret,
      OTEL_TRACES_SAMPLER_ARG: '1.1',
    };
    expect(Object.keys(problemsOf(env)).sort()).toEqual(Object.keys(env).sort());
    const message = messageOf(env);
    expect(message).not.toContain(secret);
    expect(message).toContain('PORT must be a whole number from 0 to 65535. Example: PORT=8443');
  });

  it('prefers a collector’s complete URL to its base URL', () => {
    const whole = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://otlp.example.org/custom' };
    const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://base:4318' };
    expect(loadConfig(base).tracing?.url).toBe('http://base:4318/v1/traces');
    expect(loadConfig({ ...base, ...whole }).tracing?.url).toBe('https://otlp.example.org/custom');
  });

  it.each([
    ['PUBLIC_URL', 'consent.example.org'],
    ['PUBLIC_URL', 'ftp://consent.example.org'],
    ['PUBLIC_URL', 'https://consent.example.org/ledger'],
    ['PUBLIC_URL', 'https://consent.example.org/?a'],
    ['PUBLIC_URL', 'https://user:secret@consent.example.org'],
    ['PUBLIC_URL', 'https://consent.example.org\\\\evil.example'],
    ['PUBLIC_URL', 'https://consent.example.org:99999'],
    ['SECURITY_CONTACT', 'security@example.org'],
    ['SECURITY_CONTACT', 'http://example.org/report'],
    ['SECURITY_CONTACT', 'mailto:security@example.org,javascript:alert(1)'],
    ['SECURITY_CONTACT', 'mailto:security@example.org\nExpires: 2099-01-01T00:00:00Z'],
    ['SECURITY_CONTACT', 'https://example.org/réport'],
  ])('refuses %s=%j', (name, text) => {
    expect(Object.keys(problemsOf({ [name]: text }))).toEqual([name]);
  });

  it('requires at least as many authorities as TSA_QUORUM', () => {
    const problem = { TSA_QUORUM: 'is larger than the number of authorities in TSA_URLS.' };
    expect(problemsOf({ TSA_QUORUM: '2' })).toEqual(problem);
    expect(problemsOf({ TSA_QUORUM: '3', TSA_URLS: 'https://a.example,https://b.example', TSA_CA_FILE: '/a' })).toEqual(
      problem,
    );
    expect(Object.keys(problemsOf({ TSA_QUORUM: '0' }))).toEqual(['TSA_QUORUM']);
  });

  it('refuses a policy that the intervals of the service would break', () => {
    const env = { SEAL_WITHIN_SECONDS: '19', STAMP_INTERVAL_MS: '1800001' };
    expect(problemsOf(env)).toEqual({
      SEAL_WITHIN_SECONDS: 'must be at least twice BATCH_MAX_AGE_MS, or the service breaks its own policy.',
      STAMP_WITHIN_SECONDS: 'must be at least twice STAMP_INTERVAL_MS, or the service breaks its own policy.',
    });
  });

  it('requires TSA_URLS and TSA_CA_FILE together', () => {
    expect(problemsOf({ TSA_URLS: 'https://a.example' })).toEqual({
      TSA_CA_FILE: 'is required together with TSA_URLS.',
    });
    expect(problemsOf({ TSA_CA_FILE: '/a' })).toEqual({ TSA_URLS: 'is required together with TSA_CA_FILE.' });
    expect(Object.keys(problemsOf({ TSA_URLS: 'ftp://a', TSA_CA_FILE: '/a' }))).toEqual(['TSA_URLS']);
  });

  it('requires keys of type 0x04 or 0x06 of one name for each witness', () => {
    const url = 'https://w1.example';
    expect(problemsOf({ WITNESS_URLS: url })).toEqual({ WITNESS_KEYS: 'is required together with WITNESS_URLS.' });
    expect(problemsOf({ WITNESS_KEYS: W1 })).toEqual({ WITNESS_URLS: 'is required together with WITNESS_KEYS.' });
    const ledgerKey = formatVerifierKey('w1.example', new Uint8Array(32));
    for (const keys of [`${W1},${W2}`, `${W1},${W1}`, ledgerKey, W1.replace('w1', 'w3'), 'w1.example']) {
      expect(Object.keys(problemsOf({ WITNESS_URLS: url, WITNESS_KEYS: keys })), keys).toEqual(['WITNESS_KEYS']);
    }
  });

  it('refuses a name of the operator that would alter a page, and qualified stamps without a list', () => {
    for (const name of ['A\nB', 'A\u202eB', 'A\u200bB', 'A\u0000', 'x'.repeat(301)])
      expect(Object.keys(problemsOf({ OPERATOR_LEGAL_NAME: name })), name).toEqual(['OPERATOR_LEGAL_NAME']);
    const list = (link: string) => JSON.stringify([{ organization: 'A', trusted_list: link }]);
    for (const text of ['A', '[]', '{}', '[{"organization":"A"}]', list('http://a.example'), list('javascript:a')])
      expect(Object.keys(problemsOf({ QUALIFIED_STAMPS: text })), text).toEqual(['QUALIFIED_STAMPS']);
  });

  it('requires SMTP_URL, MAIL_FROM and PUBLIC_URL together', () => {
    const mail = { SMTP_URL: 'smtps://mail.example.org', MAIL_FROM: 'a@b.example', PUBLIC_URL: 'https://c.example' };
    expect(problemsOf(mail)).toEqual({});
    expect(Object.keys(problemsOf({ SMTP_URL: mail.SMTP_URL }))).toEqual(['MAIL_FROM', 'PUBLIC_URL']);
    expect(Object.keys(problemsOf({ ...mail, SMTP_URL: undefined }))).toEqual(['SMTP_URL']);
    expect(loadConfig({ PUBLIC_URL: mail.PUBLIC_URL }).mail).toBeUndefined();
  });

  it.each([
    ['smtps://u%40h:p%3Aw@mail.example.org', ['mail.example.org', 465, true, false, { user: 'u@h', pass: 'p:w' }]],
    ['smtp://mail.example.org', ['mail.example.org', 587, false, true, undefined]],
    ['smtp://mail.example.org:25?starttls=optional', ['mail.example.org', 25, false, false, undefined]],
    ['smtp://127.0.0.1:1025', ['127.0.0.1', 1025, false, false, undefined]],
    ['smtp://[::1]:1025', ['::1', 1025, false, false, undefined]],
  ])('reads the mail server %s', (url, expected) => {
    const env = { SMTP_URL: url, MAIL_FROM: 'Ledger <ledger@example.org>', PUBLIC_URL: 'https://c.example' };
    const { smtp, from } = loadConfig(env).mail ?? {};
    expect([smtp?.host, smtp?.port, smtp?.isTlsFromStart, smtp?.demandsTls, smtp?.auth]).toEqual(expected);
    expect(from).toEqual({ name: 'Ledger', address: 'ledger@example.org' });
  });

  it.each([
    ['SMTP_URL', 'mail.example.org'],
    ['SMTP_URL', 'https://mail.example.org'],
    ['SMTP_URL', 'smtp://mail.example.org/path'],
    ['SMTP_URL', 'smtp://mail.example.org?tls.rejectUnauthorized=false'],
    ['SMTP_URL', 'smtp://a%zz@mail.example.org'],
    ['MAIL_FROM', 'ledger'],
    ['MAIL_FROM', 'Ledger <ledger@example.org>, other@example.org'],
    ['MAIL_FROM', 'Ledger\r\nBcc: other@example.org <ledger@example.org>'],
  ])('sends no mail with %s=%j', (name, text) => {
    const mail = { SMTP_URL: 'smtps://mail.example.org', MAIL_FROM: 'a@b.example', PUBLIC_URL: 'https://c.example' };
    expect(Object.keys(problemsOf({ ...mail, [name]: text }))).toEqual([name]);
  });

  it('requires GEO_COUNTRY_HEADER if GEO_REGION_HEADER is set', () => {
    expect(problemsOf({ GEO_REGION_HEADER: 'X-Region' })).toEqual({
      GEO_COUNTRY_HEADER: 'is required together with GEO_REGION_HEADER.',
    });
    expect(problemsOf({ GEO_COUNTRY_HEADER: 'X-Country' })).toEqual({});
    expect(Object.keys(problemsOf({ GEO_COUNTRY_HEADER: 'two words' }))).toEqual(['GEO_COUNTRY_HEADER']);
  });

  it('requires one master key of exactly 32 bytes', () => {
    const key = Buffer.alloc(32).toString('hex');
    expect(Object.keys(problemsOf({ MASTER_KEY: key, MASTER_KEY_FILE: '/k' }))).toEqual(['MASTER_KEY_FILE']);
    for (const wrong of [key.slice(2), `${key}00`, 'x'.repeat(64), Buffer.alloc(31).toString('base64')]) {
      expect(Object.keys(problemsOf({ MASTER_KEY: wrong }))).toEqual(['MASTER_KEY']);
    }
  });

  it.each([
    ['', []],
    ['::1', ['::1']],
    ['10.1.2.3/0,,', ['10.1.2.3/0']],
  ])('reads TRUSTED_PROXIES %j', (text, list) => {
    expect(loadConfig({ TRUSTED_PROXIES: text }).http.trustedProxies).toEqual(list);
  });

  it.each(['10.0.0', 'localhost', '10.0.0.1/8/8', '::1/129', '10.0.0.1/'])('refuses TRUSTED_PROXIES %j', (text) => {
    expect(Object.keys(problemsOf({ TRUSTED_PROXIES: text }))).toEqual(['TRUSTED_PROXIES']);
  });
});

describe('the table of variables', () => {
  it('contains a valid example for every variable', () => {
    for (const [name, schema] of Object.entries(variables.shape)) {
      const about = descriptions.get(schema);
      expect(about?.meaning, name).toBeTruthy();
      expect(about?.default ?? about?.otherwise, name).toBeDefined();
      const isMade = about?.example.startsWith('$(') === true;
      if (!isMade) expect(schema.safeParse(about?.example).success, name).toBe(true);
    }
  });

  it('contains a separate description for each variable', () => {
    const schemas = Object.values(variables.shape);
    const meanings = schemas.map((schema) => descriptions.get(schema)?.meaning);
    expect(meanings.filter((meaning, index) => meanings.indexOf(meaning) !== index)).toEqual([]);
    expect(descriptions.get(variables.shape.OTEL_EXPORTER_OTLP_HEADERS)?.meaning).toContain('Headers');
  });

  it('equals docs/configuration.md', () => {
    expect(readFileSync('docs/configuration.md', 'utf8')).toBe(configurationDocument());
  });
});

function messageOf(env: Environment): string {
  try {
    loadConfig(env);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

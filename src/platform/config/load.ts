import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { withoutTrailing } from '../../../schemas/text/without-trailing.js';
import { ConfigError, type ConfigProblem } from './errors.js';
import type { SmtpServer } from './formats.js';
import { descriptions, type Values, variables } from './variables.js';

/** The whole configuration of a process, read once at start and passed in. */
export interface Config {
  /** Absolute path. */
  readonly dataDir: string;
  readonly database: {
    /** `undefined`: the embedded PostgreSQL. */
    readonly url: string | undefined;
    readonly poolSize: number;
  };
  /** `undefined`: PostgreSQL stores the event log. */
  readonly eventStoreUrl: string | undefined;
  /** `undefined`: the development time stamp authority. */
  readonly timestamping:
    | { readonly urls: readonly string[]; readonly caFile: string; readonly quorum: number }
    | undefined;
  readonly masterKey: MasterKeySource;
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Processes of `serve` that answer callers. */
    readonly processes: number;
    readonly scannerHost: string | undefined;
    readonly trustedProxies: readonly string[];
    /** Time in milliseconds for which the service still accepts connections when it stops. */
    readonly lameDuckMs: number;
    /** Time in milliseconds for requests in progress to complete after that. */
    readonly drainGraceMs: number;
  };
  /** Networks that webhooks may reach although they are not public. */
  readonly webhookNetworks: readonly string[];
  /** Settings of scans of pages. */
  readonly scans: {
    /** Path of Chromium or Chrome; undefined: pages are requested without a browser. */
    readonly chromePath: string | undefined;
    /** Networks that scans may reach although they are private. */
    readonly allowedNetworks: readonly string[];
  };
  /** Data of this installation in the discovery documents. */
  readonly discovery: {
    /** Like `https://consent.example.org`, without a trailing slash. */
    readonly publicUrl: string | undefined;
    /** URIs, the preferred one first. */
    readonly securityContacts: readonly string[];
  };
  /** `undefined`: the service sends no mail. */
  readonly mail: MailConfig | undefined;
  /** Whether everyone can create an organisation. */
  readonly isSignUpOpen: boolean;
  /** How the service determines the country and region of a request. */
  /** Absolute path of the folder with vendor lists of IAB; undefined: none. */
  readonly vendorListFolder: string | undefined;
  readonly geo: {
    readonly countryHeader: string | undefined;
    readonly regionHeader: string | undefined;
    /** Absolute path; `undefined`: the packaged data set. */
    readonly databaseFile: string | undefined;
  };
  /** DNS servers for the verification of domains; empty: those of the system. */
  readonly dnsServers: readonly string[];
  readonly ledgerOrigin: string;
  readonly batch: { readonly maxEvents: number; readonly maxAgeMs: number };
  readonly stampIntervalMs: number;
  /** Witnesses of the ledger; empty: none. */
  readonly witnesses: readonly WitnessAddress[];
  /** Delays that the ledger's policy promises to its readers, in seconds. */
  readonly policy: { readonly sealWithinSeconds: number; readonly stampWithinSeconds: number };
  readonly admission: {
    readonly maxGroup: number;
    readonly maxInProgress: number;
    /** Largest body of a submission batch. */
    readonly batchBodyBytes: number;
  };
  readonly outbox: { readonly maxRows: number; readonly retentionHours: number };
  /** Absolute path. */
  readonly erasureJournal: string;
  /** Milliseconds. */
  readonly erasureAnnounceIntervalMs: number;
  /** Number of days for which database backups are kept; `undefined`: unknown. */
  readonly backupRetentionDays: number | undefined;
  /** Limits of the stored evidence packages. */
  readonly exports: {
    readonly retentionHours: number;
    /** Maximum bytes of one package. */
    readonly maxBytes: number;
    /** Maximum number of queued, running and stored packages. */
    readonly maxPerTenant: number;
  };
  /** Requests per minute of each client: an IPv4 address, or an IPv6 network. */
  readonly limits: {
    readonly invalidKeys: number;
    readonly publicVerify: number;
    /** Prefix of an IPv6 network, in bits. */
    readonly ipv6ClientPrefix: number;
  };
  /** SHA-256 digests, in hex, of the bearer tokens of auditors; none: the structure is public. */
  readonly structureAuditors: readonly string[];
  /** Token that `/metrics` requires; `undefined`: `/metrics` does not exist. */
  readonly metricsToken: string | undefined;
  /** `undefined`: tracing is disabled. */
  readonly tracing: TracingConfig | undefined;
  readonly logLevel: Values['LOG_LEVEL'];
}

/** The mail server, and the values of this installation that mails state. */
export interface MailConfig {
  readonly smtp: SmtpServer;
  readonly from: { readonly name: string; readonly address: string };
  /** Origin of the links in mails. */
  readonly publicUrl: string;
}

/** A witness that cosigns the checkpoints of the ledger (C2SP tlog-witness). */
export interface WitnessAddress {
  /** Submission prefix; may contain a secret. */
  readonly url: string;
  /** Name of its keys. */
  readonly name: string;
  /** Keys of type 0x04 and 0x06, at least one. */
  readonly keys: readonly VerifierKey[];
}

/** Destination and sampling of traces (the OpenTelemetry specification's environment variables). */
export interface TracingConfig {
  /** Complete URL of the collector. */
  readonly url: string;
  /** May contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: Values['OTEL_TRACES_SAMPLER'];
  /** 0 to 1. */
  readonly samplerRatio: number;
}

/** Source of the master key. */
export type MasterKeySource =
  | { readonly kind: 'given'; readonly key: Buffer }
  | { readonly kind: 'file'; readonly path: string }
  /** The file is created with a random key if it is missing. */
  | { readonly kind: 'generated'; readonly path: string };

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and validates the whole configuration. An empty or blank variable counts as not set.
 * @param env e.g. `process.env`
 * @throws ConfigError that names every invalid variable, but no value
 */
export function loadConfig(env: Environment): Config {
  const texts = textsOf(env);
  const parsed = variables.safeParse(texts);
  const wrong = new Map<string, ConfigProblem>();
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0]);
    if (!wrong.has(name)) wrong.set(name, problemOf(name, issue.message));
  }
  const problems = [...wrong.values(), ...problemsOfCombinations(texts)];
  if (parsed.success) problems.push(...problemsOfWitnesses(parsed.data));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return assemble(parsed.data);
}

function textsOf(env: Environment): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, schema] of Object.entries(variables.shape)) {
    const given = env[name]?.trim();
    const text = given === undefined || given === '' ? descriptions.get(schema)?.default : given;
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

/**
 * Checks the rules between variables. It looks at the given texts, because an invalid value is
 * already reported by itself.
 */
function problemsOfCombinations(texts: Readonly<Record<string, string>>): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (texts.TSA_URLS !== undefined && texts.TSA_CA_FILE === undefined) {
    problems.push(problemOf('TSA_CA_FILE', 'is required together with TSA_URLS.'));
  }
  if (texts.TSA_CA_FILE !== undefined && texts.TSA_URLS === undefined) {
    problems.push(problemOf('TSA_URLS', 'is required together with TSA_CA_FILE.'));
  }
  if (texts.SMTP_URL !== undefined || texts.MAIL_FROM !== undefined) {
    for (const name of ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'] as const) {
      if (texts[name] === undefined) problems.push(problemOf(name, 'is required to send mail.'));
    }
  }
  if (texts.WITNESS_URLS !== undefined && texts.WITNESS_KEYS === undefined) {
    problems.push(problemOf('WITNESS_KEYS', 'is required together with WITNESS_URLS.'));
  }
  if (texts.WITNESS_KEYS !== undefined && texts.WITNESS_URLS === undefined) {
    problems.push(problemOf('WITNESS_URLS', 'is required together with WITNESS_KEYS.'));
  }
  const quorum = Number(texts.TSA_QUORUM ?? 1);
  if (quorum > Math.max(1, texts.TSA_URLS?.split(',').length ?? 0)) {
    problems.push(problemOf('TSA_QUORUM', 'is larger than the number of authorities in TSA_URLS.'));
  }
  if (texts.MASTER_KEY !== undefined && texts.MASTER_KEY_FILE !== undefined) {
    problems.push(problemOf('MASTER_KEY_FILE', 'must not be set together with MASTER_KEY.'));
  }
  if (texts.GEO_REGION_HEADER !== undefined && texts.GEO_COUNTRY_HEADER === undefined) {
    problems.push(problemOf('GEO_COUNTRY_HEADER', 'is required together with GEO_REGION_HEADER.'));
  }
  for (const [promise, interval] of [
    ['SEAL_WITHIN_SECONDS', 'BATCH_MAX_AGE_MS'],
    ['STAMP_WITHIN_SECONDS', 'STAMP_INTERVAL_MS'],
  ] as const) {
    if (Number(texts[promise]) * 1000 < 2 * Number(texts[interval]))
      problems.push(problemOf(promise, `must be at least twice ${interval}, or the service breaks its own policy.`));
  }
  return problems;
}

function problemsOfWitnesses({ WITNESS_URLS: urls = [], WITNESS_KEYS: keys = [] }: Values): ConfigProblem[] {
  if (urls.length === 0 || keys.length === 0 || urls.length === keysByName(keys).size) return [];
  return [problemOf('WITNESS_KEYS', `must name one witness for each of the ${urls.length} URLs in WITNESS_URLS.`)];
}

function problemOf(name: string, problem: string): ConfigProblem {
  const schema = Object.entries(variables.shape).find(([known]) => known === name)?.[1];
  return { name, problem, example: (schema && descriptions.get(schema)?.example) ?? '' };
}

function assemble(values: Values): Config {
  const dataDir = resolve(values.DATA_DIR);
  const { TSA_URLS: urls, TSA_CA_FILE: caFile } = values;
  return {
    dataDir,
    database: { url: values.DATABASE_URL, poolSize: values.DATABASE_POOL_SIZE },
    eventStoreUrl: values.EVENTSTORE_URL,
    timestamping:
      urls === undefined || caFile === undefined
        ? undefined
        : { urls, caFile: resolve(caFile), quorum: values.TSA_QUORUM },
    masterKey: masterKeySource(values, dataDir),
    http: {
      host: values.HOST,
      port: values.PORT,
      processes: values.API_PROCESSES ?? Math.max(1, Math.floor(availableParallelism() / PROCESSORS_OF_API)),
      scannerHost: values.SCANNER_HOST?.toLowerCase(),
      trustedProxies: values.TRUSTED_PROXIES,
      lameDuckMs: values.LAME_DUCK_MS,
      drainGraceMs: values.DRAIN_GRACE_MS,
    },
    webhookNetworks: values.WEBHOOK_NETWORKS,
    scans: {
      chromePath: values.CHROME_PATH === undefined ? undefined : resolve(values.CHROME_PATH),
      allowedNetworks: values.SCAN_NETWORKS,
    },
    discovery: { publicUrl: values.PUBLIC_URL, securityContacts: values.SECURITY_CONTACT },
    mail: mailConfig(values),
    isSignUpOpen: values.SIGN_UP === 'open',
    vendorListFolder: values.IAB_VENDOR_LISTS === undefined ? undefined : resolve(values.IAB_VENDOR_LISTS),
    geo: {
      countryHeader: values.GEO_COUNTRY_HEADER,
      regionHeader: values.GEO_REGION_HEADER,
      databaseFile: values.GEO_DATABASE_FILE === undefined ? undefined : resolve(values.GEO_DATABASE_FILE),
    },
    dnsServers: values.DNS_SERVERS,
    ledgerOrigin: values.LEDGER_ORIGIN,
    batch: { maxEvents: values.BATCH_MAX_EVENTS, maxAgeMs: values.BATCH_MAX_AGE_MS },
    stampIntervalMs: values.STAMP_INTERVAL_MS,
    witnesses: witnessAddresses(values),
    policy: { sealWithinSeconds: values.SEAL_WITHIN_SECONDS, stampWithinSeconds: values.STAMP_WITHIN_SECONDS },
    admission: {
      maxGroup: values.ADMISSION_MAX_GROUP,
      maxInProgress: values.ADMISSION_MAX_IN_PROGRESS,
      batchBodyBytes: values.BATCH_BODY_MAX_BYTES,
    },
    outbox: { maxRows: values.OUTBOX_MAX_ROWS, retentionHours: values.OUTBOX_RETENTION_HOURS },
    erasureJournal:
      values.ERASURE_JOURNAL === undefined ? join(dataDir, 'erasures.ndjson') : resolve(values.ERASURE_JOURNAL),
    erasureAnnounceIntervalMs: values.ERASURE_ANNOUNCE_INTERVAL_SECONDS * 1_000,
    backupRetentionDays: values.BACKUP_RETENTION_DAYS,
    exports: {
      retentionHours: values.EXPORT_RETENTION_HOURS,
      maxBytes: values.EXPORT_MAX_BYTES,
      maxPerTenant: values.EXPORT_MAX_PER_TENANT,
    },
    limits: {
      invalidKeys: values.INVALID_KEY_LIMIT,
      publicVerify: values.PUBLIC_VERIFY_LIMIT,
      ipv6ClientPrefix: values.IPV6_CLIENT_PREFIX,
    },
    structureAuditors: values.STRUCTURE_AUDITORS,
    metricsToken: values.METRICS_TOKEN,
    tracing: tracingConfig(values),
    logLevel: values.LOG_LEVEL,
  };
}

function witnessAddresses({ WITNESS_URLS: urls = [], WITNESS_KEYS: keys = [] }: Values): readonly WitnessAddress[] {
  const named = [...keysByName(keys)];
  return urls.flatMap((url, i) => {
    const witness = named[i];
    return witness === undefined ? [] : [{ url, name: witness[0], keys: witness[1] }];
  });
}

/** The keys of each witness, in the order in which its first key is named. */
function keysByName(keys: readonly VerifierKey[]): ReadonlyMap<string, readonly VerifierKey[]> {
  const byName = new Map<string, readonly VerifierKey[]>();
  for (const key of keys) byName.set(key.name, [...(byName.get(key.name) ?? []), key]);
  return byName;
}

function mailConfig({ SMTP_URL: smtp, MAIL_FROM: from, PUBLIC_URL: publicUrl }: Values): MailConfig | undefined {
  return smtp === undefined || from === undefined || publicUrl === undefined ? undefined : { smtp, from, publicUrl };
}

function tracingConfig(values: Values): TracingConfig | undefined {
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${withoutTrailing(base, '/')}/v1/traces`);
  if (url === undefined) return undefined;
  return {
    url,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
    serviceName: values.OTEL_SERVICE_NAME,
    resourceAttributes: values.OTEL_RESOURCE_ATTRIBUTES,
    sampler: values.OTEL_TRACES_SAMPLER,
    samplerRatio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** The worker and PostgreSQL need as much as three processes that answer callers. */
const PROCESSORS_OF_API = 4;

function masterKeySource(values: Values, dataDir: string): MasterKeySource {
  if (values.MASTER_KEY !== undefined) return { kind: 'given', key: values.MASTER_KEY };
  if (values.MASTER_KEY_FILE !== undefined) return { kind: 'file', path: resolve(values.MASTER_KEY_FILE) };
  return { kind: 'generated', path: join(dataDir, 'master.key') };
}

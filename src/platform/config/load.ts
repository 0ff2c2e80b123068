import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { OperatorStatements } from '../../../schemas/events/ledger-policy.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { withoutTrailing } from '../../../schemas/text/without-trailing.js';
import type { SmtpServer } from './formats.js';
import { descriptions, type Values, variables } from './variables.js';

/** One invalid or missing variable. Never contains the value, which may be a secret. */
interface ConfigProblem {
  readonly name: string;
  /** The problem, as the end of a sentence that begins with the name. */
  readonly problem: string;
  readonly example: string;
}

/** The configuration is invalid. The message lists every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ name, problem, example }) => `  ${name} ${problem} Example: ${name}=${example}`);
    super(`The configuration is invalid:\n${lines.join('\n')}\ndocs/configuration.md describes every variable.`);
  }
}

/** The whole configuration of a process, read once at start and passed in: what `assemble` returns. */
export type Config = Readonly<ReturnType<typeof assemble>>;

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

export type TracingConfig = NonNullable<Config['tracing']>;

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
  const parsed = variables.safeParse(texts, { error: schemaWords });
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

/** If the first variable is set, the second must also be set. */
const REQUIRED_TOGETHER = [
  ['TSA_URLS', 'TSA_CA_FILE'],
  ['TSA_CA_FILE', 'TSA_URLS'],
  ['WITNESS_URLS', 'WITNESS_KEYS'],
  ['WITNESS_KEYS', 'WITNESS_URLS'],
  ['GEO_REGION_HEADER', 'GEO_COUNTRY_HEADER'],
] as const;

/**
 * Checks the rules between variables. It looks at the raw texts, because an invalid value is already reported on its
 * own.
 */
function problemsOfCombinations(texts: Readonly<Record<string, string>>): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const [given, needed] of REQUIRED_TOGETHER) {
    if (texts[given] !== undefined && texts[needed] === undefined)
      problems.push(problemOf(needed, `is required together with ${given}.`));
  }
  if (texts.SMTP_URL !== undefined || texts.MAIL_FROM !== undefined) {
    for (const name of ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'] as const) {
      if (texts[name] === undefined) problems.push(problemOf(name, 'is required to send mail.'));
    }
  }
  const quorum = Number(texts.TSA_QUORUM ?? 1);
  if (quorum > Math.max(1, texts.TSA_URLS?.split(',').length ?? 0)) {
    problems.push(problemOf('TSA_QUORUM', 'is larger than the number of authorities in TSA_URLS.'));
  }
  if (texts.MASTER_KEY !== undefined && texts.MASTER_KEY_FILE !== undefined) {
    problems.push(problemOf('MASTER_KEY_FILE', 'must not be set together with MASTER_KEY.'));
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

/**
 * Builds the configuration from the values. Paths become absolute, and times are in milliseconds unless a name says
 * otherwise. `docs/configuration.md` says what `undefined` means for each variable.
 */
function assemble(values: Values) {
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
      /** Processes of `serve` that answer callers. */
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
    /** The URL has no trailing slash; the first contact is the preferred one. */
    discovery: { publicUrl: values.PUBLIC_URL, securityContacts: values.SECURITY_CONTACT },
    mail: mailConfig(values),
    /** Whether everyone can create an organisation. */
    isSignUpOpen: values.SIGN_UP === 'open',
    /** Folder with vendor lists of IAB. */
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
    /** Delays that the ledger's policy promises to its readers. */
    policy: {
      sealWithinSeconds: values.SEAL_WITHIN_SECONDS,
      stampWithinSeconds: values.STAMP_WITHIN_SECONDS,
      stated: operatorStatements(values),
    },
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
    /** SHA-256 digests, in hex, of the bearer tokens of auditors. If there are none, the structure is public. */
    structureAuditors: values.STRUCTURE_AUDITORS,
    /** `undefined` if there is no `/metrics`. */
    metricsToken: values.METRICS_TOKEN,
    tracing: tracingConfig(values),
    logLevel: values.LOG_LEVEL,
    /** If `undefined`, the log is text on a terminal, and JSON elsewhere. */
    logFormat: values.LOG_FORMAT,
  };
}

function operatorStatements({ OPERATOR_LEGAL_NAME: name, QUALIFIED_STAMPS: qualified }: Values): OperatorStatements {
  return {
    ...(name !== undefined && { operator: { legal_name: name } }),
    ...(qualified !== undefined && { qualified_stamps: qualified }),
  };
}

function witnessAddresses({ WITNESS_URLS: urls = [], WITNESS_KEYS: keys = [] }: Values): readonly WitnessAddress[] {
  const named = [...keysByName(keys)];
  return urls.flatMap((url, i) => {
    const witness = named[i];
    return witness === undefined ? [] : [{ url, name: witness[0], keys: witness[1] }];
  });
}

/** Returns the keys of each witness, in the order in which its first key is named. */
function keysByName(keys: readonly VerifierKey[]): ReadonlyMap<string, readonly VerifierKey[]> {
  const byName = new Map<string, readonly VerifierKey[]>();
  for (const key of keys) byName.set(key.name, [...(byName.get(key.name) ?? []), key]);
  return byName;
}

function mailConfig({ SMTP_URL: smtp, MAIL_FROM: from, PUBLIC_URL: publicUrl }: Values): MailConfig | undefined {
  return smtp === undefined || from === undefined || publicUrl === undefined ? undefined : { smtp, from, publicUrl };
}

/**
 * Returns destination and sampling of traces (the environment variables of the OpenTelemetry specification). The
 * headers may be secret.
 */
function tracingConfig(values: Values) {
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

/** Processors per process that answers callers: the worker and PostgreSQL need as much as three of them. */
const PROCESSORS_OF_API = 4;

function masterKeySource(values: Values, dataDir: string): MasterKeySource {
  if (values.MASTER_KEY !== undefined) return { kind: 'given', key: values.MASTER_KEY };
  if (values.MASTER_KEY_FILE !== undefined) return { kind: 'file', path: resolve(values.MASTER_KEY_FILE) };
  return { kind: 'generated', path: join(dataDir, 'master.key') };
}

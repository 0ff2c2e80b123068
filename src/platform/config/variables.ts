import { z } from 'zod';
import {
  bearerSecret,
  contactUris,
  dnsServers,
  eventStoreUrl,
  headerName,
  hostName,
  httpUrls,
  integer,
  key256,
  ledgerOrigin,
  namedValues,
  networks,
  publicOrigin,
  ratio,
  urlOf,
} from './formats.js';

/** What docs/configuration.md says of a variable. */
export interface Description {
  readonly meaning: string;
  /** The text that stands in for a missing variable. */
  readonly default?: string;
  /** What holds without the variable, in words, where it has no default or an empty one. */
  readonly otherwise?: string;
  readonly example: string;
}

/** The description of each schema in `variables`. */
export const descriptions = z.registry<Description>();

const path = z.string().min(1, 'must be a path.');

const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/**
 * Every variable that the service reads, in the order of docs/configuration.md. One that has a default is never optional.
 */
export const variables = z.object({
  DATABASE_URL: urlOf(['postgres', 'postgresql']).optional().register(descriptions, {
    meaning: 'PostgreSQL server (15 or later) that holds the service’s tables. Its user owns the schema.',
    otherwise: 'the embedded PostgreSQL in `DATA_DIR`',
    example: 'postgresql://ledger:secret@db.example.org:5432/consent_ledger?sslmode=verify-full',
  }),
  DATABASE_POOL_SIZE: integer(2, 1000).register(descriptions, {
    meaning: 'Most connections to PostgreSQL that one role (`api`, `worker`) of one process opens.',
    default: '10',
    example: '20',
  }),
  EVENTSTORE_URL: eventStoreUrl.optional().register(descriptions, {
    meaning: 'EventStoreDB / KurrentDB server or cluster that keeps the event log.',
    otherwise: 'the event log is kept in PostgreSQL',
    example: 'esdb+discover://admin:secret@log.example.org:2113?tls=true',
  }),
  TSA_URLS: httpUrls.optional().register(descriptions, {
    meaning:
      'RFC 3161 time-stamp authorities, separated by commas; the next one is asked when one fails. Needs `TSA_CA_FILE`.',
    otherwise: 'a *development* time-stamp authority in `DATA_DIR`, which proves nothing to others',
    example: 'https://tsa.example.org/tsr,https://tsa.example.net/',
  }),
  TSA_CA_FILE: path.optional().register(descriptions, {
    meaning: 'PEM file with the root certificates that answers of `TSA_URLS` must lead to.',
    otherwise: 'the development authority’s own root',
    example: '/etc/consent-ledger/tsa-roots.pem',
  }),
  MASTER_KEY: key256.optional().register(descriptions, {
    meaning:
      'The key that wraps all other keys: 32 random bytes as base64 or hexadecimal. **Without it nothing personal can be read: back it up apart from the database.**',
    otherwise: '`MASTER_KEY_FILE`, or else a key made at first start in `DATA_DIR/master.key`',
    example: '$(openssl rand -base64 32)',
  }),
  MASTER_KEY_FILE: path.optional().register(descriptions, {
    meaning:
      'File that holds the master key in one of the same forms, e.g. a mounted secret. Not together with `MASTER_KEY`.',
    otherwise: 'see `MASTER_KEY`',
    example: '/run/secrets/master_key',
  }),
  DATA_DIR: path.register(descriptions, {
    meaning:
      'Folder of the embedded PostgreSQL, the master key and the development time-stamp authority. Every command with the same folder belongs to the same installation.',
    default: './data',
    example: '/var/lib/consent-ledger',
  }),
  HOST: z.string().min(1, 'must be an address to listen on.').register(descriptions, {
    meaning: 'Address to listen on.',
    default: '127.0.0.1',
    example: '0.0.0.0',
  }),
  PORT: integer(0, 65535).register(descriptions, {
    meaning: 'TCP port to listen on; 0: one that the system picks.',
    default: '8080',
    example: '8443',
  }),
  DRAIN_GRACE_MS: integer(0, 600_000).register(descriptions, {
    meaning:
      'Milliseconds that a service that stops gives callers to send what they have begun, and to take their answers. Requests that it has taken are finished whatever that takes.',
    default: '10000',
    example: '20000',
  }),
  PUBLIC_URL: publicOrigin.optional().register(descriptions, {
    meaning:
      'Scheme, host and port under which callers reach the service. The documents of discovery ([discovery.md](discovery.md)) name it; a request’s own `Host` is never believed.',
    otherwise: 'those documents hold URLs without scheme and host, which fit wherever they are fetched from',
    example: 'https://consent.example.org',
  }),
  SECURITY_CONTACT: contactUris.register(descriptions, {
    meaning:
      'URIs, separated by commas, to which reports of vulnerabilities go, the preferred one first. Published in `/.well-known/security.txt`; without one there is no such file.',
    default: '',
    example: 'mailto:security@example.org,https://example.org/report',
  }),
  SCANNER_HOST: hostName.optional().register(descriptions, {
    meaning: 'Second host name that serves `/tool/v1`, for scanners and agents.',
    otherwise: 'none',
    example: 'scanner.example.org',
  }),
  TRUSTED_PROXIES: networks.register(descriptions, {
    meaning:
      'Addresses and CIDR ranges, separated by commas, of the proxies whose `X-Forwarded-For` is believed. A visitor’s IP address is recorded as evidence: name only your own.',
    default: '',
    example: '10.0.0.0/8,192.0.2.7',
  }),
  GEO_COUNTRY_HEADER: headerName.optional().register(descriptions, {
    meaning:
      'Header in which a proxy says which country a request comes from (ISO 3166-1 alpha-2). Believed only from `TRUSTED_PROXIES`.',
    otherwise: 'none: countries are looked up by IP address',
    example: 'CF-IPCountry',
  }),
  GEO_REGION_HEADER: headerName.optional().register(descriptions, {
    meaning:
      'Header in which a proxy says which subdivision of that country it is (ISO 3166-2, like `CA` or `US-CA`). Needs `GEO_COUNTRY_HEADER`.',
    otherwise: 'none',
    example: 'CF-Region-Code',
  }),
  GEO_DATABASE_FILE: path.optional().register(descriptions, {
    meaning:
      'MaxMind DB file (GeoLite2-Country, GeoLite2-City or the like) that says where IP addresses are. Read at start.',
    otherwise:
      'the data set that the service brings along: countries only, as of its release, from registries’ data (CC0; statistics of the Number Resource Organization, nro.net, CC BY 4.0)',
    example: '/var/lib/geoip/GeoLite2-City.mmdb',
  }),
  DNS_SERVERS: dnsServers.register(descriptions, {
    meaning:
      'Addresses, separated by commas, of the DNS servers that are asked whose a domain is; with a port where it is not 53.',
    default: '',
    otherwise: 'the system’s resolvers',
    example: '192.0.2.53,[2001:db8::53]:5353',
  }),
  LEDGER_ORIGIN: ledgerOrigin.register(descriptions, {
    meaning:
      'Name of the ledger: the origin line of its checkpoints and the name of its key. Use a name that nobody else uses, and never change it once something is sealed.',
    default: 'localhost/consent-ledger',
    example: 'consent.example.org/ledger',
  }),
  BATCH_MAX_EVENTS: integer(1, 8192).register(descriptions, {
    meaning: 'A batch is sealed when this many events wait.',
    default: '4096',
    example: '1024',
  }),
  BATCH_MAX_AGE_MS: integer(10, 86_400_000).register(descriptions, {
    meaning: 'A batch is sealed when its oldest event has waited for this many milliseconds.',
    default: '10000',
    example: '60000',
  }),
  STAMP_INTERVAL_MS: integer(10, 86_400_000).register(descriptions, {
    meaning: 'Least time, in milliseconds, between two time stamps. Each one covers everything sealed before it.',
    default: '60000',
    example: '600000',
  }),
  ADMISSION_MAX_GROUP: integer(1, 1000).register(descriptions, {
    meaning: 'Most consents that one admission statement takes together.',
    default: '100',
    example: '200',
  }),
  OUTBOX_MAX_ROWS: integer(1, 100_000_000).register(descriptions, {
    meaning: 'Most events that may wait for the event log; beyond it consents are answered 503 `QUEUE_OVERLOADED`.',
    default: '500000',
    example: '2000000',
  }),
  OUTBOX_RETENTION_HOURS: integer(0, 87_600).register(descriptions, {
    meaning:
      'Hours for which an event stays in PostgreSQL after it was stamped. Must be longer than the age of the oldest backup from which the event log would be restored.',
    default: '24',
    example: '168',
  }),
  ERASURE_JOURNAL: path.optional().register(descriptions, {
    meaning:
      'File outside the database that lists erased records (ids only), applied again after a restore. Keep it on another disk than the database’s backups.',
    otherwise: '`DATA_DIR/erasures.ndjson`',
    example: '/mnt/journal/erasures.ndjson',
  }),
  BACKUP_RETENTION_DAYS: integer(0, 36_500).optional().register(descriptions, {
    meaning:
      'Days after which every backup of the database, its archived WAL included, is destroyed, counted from the start of the backup. Receipts of erasures say until when backups could still open the values. 0: there are no backups.',
    otherwise: 'receipts say that it is not known',
    example: '35',
  }),
  EXPORT_RETENTION_HOURS: integer(1, 8760).register(descriptions, {
    meaning: 'Hours for which a finished evidence export can be downloaded; then its package is deleted.',
    default: '72',
    example: '24',
  }),
  EXPORT_MAX_BYTES: integer(1, 1_099_511_627_776).register(descriptions, {
    meaning: 'Largest package, in bytes, that an evidence export may make. It is kept in PostgreSQL, encrypted.',
    default: '10737418240',
    example: '2147483648',
  }),
  EXPORT_MAX_PER_TENANT: integer(1, 100_000).register(descriptions, {
    meaning: 'Most evidence exports of one tenant that are queued, running or kept at a time.',
    default: '20',
    example: '5',
  }),
  INVALID_KEY_LIMIT: integer(1, 1_000_000).register(descriptions, {
    meaning: 'Requests with unknown API keys a minute that one IP address may make.',
    default: '30',
    example: '60',
  }),
  PUBLIC_VERIFY_LIMIT: integer(1, 1_000_000).register(descriptions, {
    meaning: 'Public verifications a minute that one IP address may make.',
    default: '30',
    example: '60',
  }),
  METRICS_TOKEN: bearerSecret.optional().register(descriptions, {
    meaning: 'Secret that `GET /metrics` asks for as a bearer token, of every role. At least 32 characters.',
    otherwise: 'there is no `/metrics`',
    example: '$(openssl rand -hex 32)',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf(['http', 'https']).optional().register(descriptions, {
    meaning: 'Base URL of a collector for traces (OTLP over HTTP, JSON); `/v1/traces` is added.',
    otherwise: 'no traces are made',
    example: 'http://localhost:4318',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: urlOf(['http', 'https']).optional().register(descriptions, {
    meaning: 'The collector’s whole URL, instead of `OTEL_EXPORTER_OTLP_ENDPOINT`.',
    otherwise: 'see `OTEL_EXPORTER_OTLP_ENDPOINT`',
    example: 'https://otlp.example.org/v1/traces',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: namedValues().register(descriptions, {
    meaning: 'Headers for the collector, as `name=value` pairs separated by commas, percent-encoded.',
    default: '',
    example: 'authorization=Bearer%20secret',
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: integer(1, 600_000).register(descriptions, {
    meaning: 'Milliseconds that one export to the collector may take.',
    default: '10000',
    example: '5000',
  }),
  OTEL_SERVICE_NAME: z.string().min(1).max(200).register(descriptions, {
    meaning: 'Name of the service in traces.',
    default: 'consent-ledger',
    example: 'consent-ledger-eu',
  }),
  OTEL_RESOURCE_ATTRIBUTES: namedValues().register(descriptions, {
    meaning: 'Further attributes of every trace, as `name=value` pairs separated by commas, percent-encoded.',
    default: '',
    example: 'deployment.environment.name=production',
  }),
  OTEL_TRACES_SAMPLER: z
    .enum(TRACE_SAMPLERS, { error: `must be one of ${TRACE_SAMPLERS.join(', ')}.` })
    .register(descriptions, {
      meaning:
        'Which requests are traced. With a `parentbased_` one, those whose `traceparent` says so, and of the others as the rest of the name says.',
      default: 'parentbased_always_on',
      example: 'traceidratio',
    }),
  OTEL_TRACES_SAMPLER_ARG: ratio.register(descriptions, {
    meaning: 'Share of requests that the samplers with `traceidratio` in their name trace.',
    default: '1',
    example: '0.01',
  }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be one of fatal, error, warn, info, debug, trace, silent.',
    })
    .register(descriptions, {
      meaning: 'Least severity of what is logged.',
      default: 'info',
      example: 'warn',
    }),
});

export type Values = z.infer<typeof variables>;
export type VariableName = keyof Values;

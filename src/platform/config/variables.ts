import * as z from 'zod';
import { BATCH_BODY_BYTES, DEFAULT_BATCH_BODY_BYTES, SINGLE_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import { DEFAULT_POLICY_DELAYS, MAX_POLICY_DELAY_SECONDS } from '../../../schemas/events/ledger-policy.js';
import {
  bearerSecret,
  contactUris,
  databaseUrl,
  dnsServers,
  eventStoreUrl,
  headerName,
  hostName,
  httpUrls,
  integer,
  key256,
  ledgerOrigin,
  legalName,
  mailSender,
  namedValues,
  networks,
  publicOrigin,
  qualifiedStamps,
  ratio,
  sha256Digests,
  smtpServer,
  urlOf,
  witnessKeys,
} from './formats.js';

/** Description of a variable in docs/configuration.md. */
export interface Description {
  readonly meaning: string;
  /** The text that is used if the variable is missing. */
  readonly default?: string;
  /** Behaviour without the variable, as readable text, if it has no default or an empty one. */
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
  DATABASE_URL: databaseUrl.optional().register(descriptions, {
    meaning:
      'PostgreSQL server (15 or later) for the tables of the service, or a pooler in session mode before it. Its user owns the schema. Of several hosts (`a:5432,b:5432`), the first one that accepts writes is used.',
    otherwise: 'the embedded PostgreSQL in `DATA_DIR`',
    example: 'postgresql://ledger:secret@db.example.org:5432/consent_ledger?sslmode=verify-full',
  }),
  DATABASE_POOL_SIZE: integer(2, 1000).register(descriptions, {
    meaning:
      'Maximum number of connections in each of the three pools of a process, without those that hold the locks of background parts. A process has at most 3 times as many, and 18 more (13 with EventStoreDB).',
    default: '10',
    example: '20',
  }),
  API_PROCESSES: integer(1, 64).optional().register(descriptions, {
    meaning:
      'Number of processes in which `serve` answers callers, on one port. Each of them counts as one process where this page states a limit of one process.',
    otherwise: 'one for each four processors of the machine, at least one',
    example: '4',
  }),
  EVENTSTORE_URL: eventStoreUrl.optional().register(descriptions, {
    meaning: 'EventStoreDB server or cluster for the event log.',
    otherwise: 'PostgreSQL holds the event log',
    example: 'esdb+discover://admin:secret@log.example.org:2113?tls=true',
  }),
  TSA_URLS: httpUrls.optional().register(descriptions, {
    meaning:
      'URLs of RFC 3161 time stamp authorities, separated by commas. The service asks the next one when one fails. Requires `TSA_CA_FILE`.',
    otherwise: 'a *development* time stamp authority in `DATA_DIR`, which proves nothing to others',
    example: 'https://tsa.example.org/tsr,https://tsa.example.net/',
  }),
  TSA_CA_FILE: path.optional().register(descriptions, {
    meaning: 'PEM file with the trusted root certificates of the authorities in `TSA_URLS`.',
    otherwise: 'the root of the development authority',
    example: '/etc/consent-ledger/tsa-roots.pem',
  }),
  TSA_QUORUM: integer(1, 4).register(descriptions, {
    meaning:
      'Number of distinct authorities in `TSA_URLS` that must stamp each checkpoint. Authorities are distinct if their root certificates name different organizations. A lower number counts after one more checkpoint with the former one ([operations.md](operations.md)).',
    default: '1',
    example: '2',
  }),
  MASTER_KEY: key256.optional().register(descriptions, {
    meaning:
      'The key that wraps all other keys: 32 random bytes as base64 or hexadecimal. **Without it no personal value can be read. Back it up apart from the database.**',
    otherwise: '`MASTER_KEY_FILE`, or else a key that the first start creates in `DATA_DIR/master.key`',
    example: '$(openssl rand -base64 32)',
  }),
  MASTER_KEY_FILE: path.optional().register(descriptions, {
    meaning:
      'File with the master key in one of the same forms, for example a mounted secret. Not together with `MASTER_KEY`.',
    otherwise: 'see `MASTER_KEY`',
    example: '/run/secrets/master_key',
  }),
  DATA_DIR: path.register(descriptions, {
    meaning:
      'Folder of the embedded PostgreSQL, the master key and the development time stamp authority. Every command with the same folder uses the same installation.',
    default: './data',
    example: '/var/lib/consent-ledger',
  }),
  HOST: z.string().min(1, 'must be an address to listen on.').register(descriptions, {
    meaning: 'Address to listen on.',
    default: '127.0.0.1',
    example: '0.0.0.0',
  }),
  PORT: integer(0, 65535).register(descriptions, {
    meaning: 'TCP port to listen on. 0: the system chooses a free port.',
    default: '8080',
    example: '8443',
  }),
  LAME_DUCK_MS: integer(0, 600_000).register(descriptions, {
    meaning:
      'Milliseconds for which the roles `api` and `serve`, when they stop, still accept connections and answer requests, while `/readyz` answers 503. Longer than the proxy needs to notice that.',
    default: '1000',
    example: '15000',
  }),
  DRAIN_GRACE_MS: integer(0, 600_000).register(descriptions, {
    meaning:
      'Milliseconds that callers have after `LAME_DUCK_MS`, when the service stops, to finish sending their requests and to take the responses. The service finishes every request that it has taken, without a limit.',
    default: '10000',
    example: '20000',
  }),
  PUBLIC_URL: publicOrigin.optional().register(descriptions, {
    meaning:
      'Scheme, host and port under which callers reach the service. The discovery documents ([discovery.md](discovery.md)) contain it, and passkeys ([sign-in.md](sign-in.md#passkeys)) are made for its host name. The service never trusts the `Host` of a request for this.',
    otherwise: 'those documents contain URLs without scheme and host, and users cannot have passkeys',
    example: 'https://consent.example.org',
  }),
  SMTP_URL: smtpServer.optional().register(descriptions, {
    meaning:
      'Mail server for invitations, password resets and notices to users ([sign-in.md](sign-in.md#mail)): `smtps://` for TLS from the start, `smtp://` for STARTTLS, which is required unless the host is this machine or the URL ends with `?starttls=optional`. Requires `MAIL_FROM` and `PUBLIC_URL`.',
    otherwise: 'the service sends no mail; responses contain the tokens',
    example: 'smtps://ledger:secret@mail.example.org',
  }),
  MAIL_FROM: mailSender.optional().register(descriptions, {
    meaning: 'Sender of these mails: an address, or a name with the address in angle brackets.',
    otherwise: 'the service sends no mail',
    example: 'Consent Ledger <ledger@example.org>',
  }),
  SIGN_UP: z.enum(['open', 'invite'], { error: 'must be open or invite.' }).register(descriptions, {
    meaning:
      'Who can create an organisation: `open`, everyone, with the standard plan ([sign-in.md](sign-in.md#sign-up)); `invite`, only the operator and the owners of organisations.',
    default: 'invite',
    example: 'open',
  }),
  SECURITY_CONTACT: contactUris.register(descriptions, {
    meaning:
      'URIs for reports of vulnerabilities, separated by commas, the preferred one first. Published in `/.well-known/security.txt`; without a URI the service has no such file.',
    default: '',
    example: 'mailto:security@example.org,https://example.org/report',
  }),
  SCANNER_HOST: hostName.optional().register(descriptions, {
    meaning: 'Second host name for `/tool/v1`, for scanners and agents.',
    otherwise: 'none',
    example: 'scanner.example.org',
  }),
  TRUSTED_PROXIES: networks().register(descriptions, {
    meaning:
      'Addresses and CIDR ranges, separated by commas, of the proxies whose `X-Forwarded-For` the service trusts. The IP address of a visitor is recorded as evidence, so name only your own proxies.',
    default: '',
    example: '10.0.0.0/8,192.0.2.7',
  }),
  CHROME_PATH: path.optional().register(descriptions, {
    meaning:
      'Path of Chromium or Chrome, with which pages are scanned ([scans.md](scans.md)). Without it, scans run no scripts.',
    otherwise: 'none',
    example: '/usr/bin/chromium',
  }),
  SCAN_NETWORKS: networks().register(descriptions, {
    meaning:
      'Addresses and CIDR ranges, separated by commas, that scans ([scans.md](scans.md)) may reach although they are private, on every port. Every tenant can then load pages from there.',
    default: '',
    example: '10.1.0.0/16',
  }),
  WEBHOOK_NETWORKS: networks().register(descriptions, {
    meaning:
      'Addresses and CIDR ranges, separated by commas, that webhooks ([webhooks.md](webhooks.md)) may reach although they are private, also by `http`. Every tenant can then send requests there.',
    default: '',
    example: '10.1.0.0/16',
  }),
  GEO_COUNTRY_HEADER: headerName.optional().register(descriptions, {
    meaning:
      'Header in which a proxy states the country of a request (ISO 3166-1 alpha-2). Trusted only from `TRUSTED_PROXIES`.',
    otherwise: 'none: the service looks up countries by IP address',
    example: 'CF-IPCountry',
  }),
  GEO_REGION_HEADER: headerName.optional().register(descriptions, {
    meaning:
      'Header in which a proxy states the subdivision of that country (ISO 3166-2, such as `CA` or `US-CA`). Requires `GEO_COUNTRY_HEADER`.',
    otherwise: 'none',
    example: 'CF-Region-Code',
  }),
  GEO_DATABASE_FILE: path.optional().register(descriptions, {
    meaning:
      'MaxMind DB file (such as GeoLite2-Country or GeoLite2-City) that maps IP addresses to countries and regions. Read at start.',
    otherwise:
      'the included data set: countries only, as of the release, from data of the registries (CC0; statistics of the Number Resource Organization, nro.net, CC BY 4.0)',
    example: '/var/lib/geoip/GeoLite2-City.mmdb',
  }),
  IAB_VENDOR_LISTS: path.optional().register(descriptions, {
    meaning:
      'Folder with the vendor lists of IAB Europe as files (`*.json`, at most 100, of 10 MB each), which configurations name by their SHA-256. A new file is found without a restart.',
    otherwise: 'none: no configuration with a TC string can be published',
    example: '/etc/consent-ledger/vendor-lists',
  }),
  DNS_SERVERS: dnsServers.register(descriptions, {
    meaning:
      'Addresses of the DNS servers that verify the ownership of domains, separated by commas, with a port where it is not 53.',
    default: '',
    otherwise: 'the resolvers of the system',
    example: '192.0.2.53,[2001:db8::53]:5353',
  }),
  LEDGER_ORIGIN: ledgerOrigin.register(descriptions, {
    meaning:
      'Name of the ledger: the origin line of its checkpoints and the name of its key. Use a globally unique name, such as one below your domain. Never change it after the first Merkle batch is sealed.',
    default: 'localhost/consent-ledger',
    example: 'consent.example.org/ledger',
  }),
  BATCH_MAX_EVENTS: integer(1, 8192).register(descriptions, {
    meaning: 'Number of waiting events at which the service seals a Merkle batch.',
    default: '4096',
    example: '1024',
  }),
  BATCH_MAX_AGE_MS: integer(10, 86_400_000).register(descriptions, {
    meaning: 'Age of the oldest waiting event, in milliseconds, at which the service seals a Merkle batch.',
    default: '10000',
    example: '60000',
  }),
  STAMP_INTERVAL_MS: integer(10, 86_400_000).register(descriptions, {
    meaning:
      'Minimum time, in milliseconds, between two time stamps. Each time stamp covers everything sealed before it.',
    default: '60000',
    example: '600000',
  }),
  WITNESS_URLS: httpUrls.optional().register(descriptions, {
    meaning:
      'Submission prefixes of witnesses (C2SP tlog-witness), separated by commas. The service submits each stamped checkpoint to every witness. Requires `WITNESS_KEYS`.',
    otherwise: 'no witness cosigns the checkpoints',
    example: 'https://witness.example.org',
  }),
  WITNESS_KEYS: witnessKeys.optional().register(descriptions, {
    meaning:
      'Verifier keys of these witnesses (C2SP tlog-cosignature), separated by commas, in the order of `WITNESS_URLS`. A witness may have two: Ed25519 (type `0x04`) and ML-DSA-44 (type `0x06`), of one name. The service stores only cosignatures that verify with these keys, and demands one of each key.',
    otherwise: 'no witness cosigns the checkpoints',
    example: 'witness.example.org/w1+00a0702f+BCaOqP2bc+HHTO8OnM9ufMPGANssqR9mpY9i8Crp363B',
  }),
  SEAL_WITHIN_SECONDS: integer(1, MAX_POLICY_DELAY_SECONDS).register(descriptions, {
    meaning:
      'Largest delay, in seconds, from the time of a record to the sealing of its batch. The ledger publishes it as its policy, and verifiers evaluate by it. At least twice `BATCH_MAX_AGE_MS`.',
    default: String(DEFAULT_POLICY_DELAYS.sealWithinSeconds),
    example: '120',
  }),
  STAMP_WITHIN_SECONDS: integer(1, MAX_POLICY_DELAY_SECONDS).register(descriptions, {
    meaning:
      'Largest delay, in seconds, from the sealing of a batch to its time stamp. The ledger publishes it as its policy, and verifiers evaluate by it. At least twice `STAMP_INTERVAL_MS`.',
    default: String(DEFAULT_POLICY_DELAYS.stampWithinSeconds),
    example: '900',
  }),
  OPERATOR_LEGAL_NAME: legalName.optional().register(descriptions, {
    meaning:
      'Legal name of the entity that operates the ledger. The ledger publishes it in its policy. Certificates and reports show it beside the controller, as a statement of the operator that nobody checked.',
    otherwise: 'certificates say “not stated”',
    example: 'Example Ledger GmbH',
  }),
  QUALIFIED_STAMPS: qualifiedStamps.optional().register(descriptions, {
    meaning:
      'Authorities in `TSA_URLS` that are qualified under eIDAS, as you state: JSON with the organization (O) of each root certificate and an https link to the trusted list that names the authority. The ledger publishes it in its policy, and certificates show it as your statement.',
    otherwise: 'nothing is stated',
    example:
      '[{"organization":"Example Trust GmbH","trusted_list":"https://eidas.ec.europa.eu/efda/trust-services/browse/eidas/tls/tl/DE"}]',
  }),
  ADMISSION_MAX_GROUP: integer(1, 1000).register(descriptions, {
    meaning: 'Maximum number of consents in one admission group, which is one transaction.',
    default: '100',
    example: '200',
  }),
  BATCH_BODY_MAX_BYTES: integer(SINGLE_BODY_BYTES, BATCH_BODY_BYTES).register(descriptions, {
    meaning:
      'Maximum size, in bytes, of a request with a submission batch. Larger ones are answered with 413. The default carries 100 consents with full `metadata` and `extra_fields`; batches with signature images or documents need more.',
    default: String(DEFAULT_BATCH_BODY_BYTES),
    example: '33554432',
  }),
  ADMISSION_MAX_IN_PROGRESS: integer(1, 100_000).register(descriptions, {
    meaning:
      'Maximum number of signed requests that one process works on at a time. Beyond it, and beyond a tenth of it while the outbox is full, the service answers 503 `QUEUE_OVERLOADED` at once.',
    default: '1000',
    example: '500',
  }),
  OUTBOX_MAX_ROWS: integer(1, 100_000_000).register(descriptions, {
    meaning:
      'Maximum number of events that may wait for the event log. At the limit the service answers 503 `QUEUE_OVERLOADED`.',
    default: '500000',
    example: '2000000',
  }),
  OUTBOX_RETENTION_HOURS: integer(0, 87_600).register(descriptions, {
    meaning:
      'With EventStoreDB: minimum number of hours for which the database keeps an event after it was sealed. It also stays until it has a time stamp. Must be longer than the age of the oldest backup from which you would restore the event log.',
    default: '24',
    example: '168',
  }),
  ERASURE_JOURNAL: path.optional().register(descriptions, {
    meaning:
      'File outside the database that lists erased records (ids only). The service applies it again after a restore. Keep it on another disk than the backups of the database.',
    otherwise: '`DATA_DIR/erasures.ndjson`',
    example: '/mnt/journal/erasures.ndjson',
  }),
  ERASURE_ANNOUNCE_INTERVAL_SECONDS: integer(1, 86_400).register(descriptions, {
    meaning:
      'Seconds for which announcements of erasures are collected. They are then added to the event log in random order, so that the log does not show which records were erased together. The keys are destroyed immediately.',
    default: '3600',
    example: '21600',
  }),
  BACKUP_RETENTION_DAYS: integer(0, 36_500).optional().register(descriptions, {
    meaning:
      'Days after which every backup of the database, including archived WAL, is destroyed, counted from the start of the backup. Receipts of erasures state until when backups could still reveal the values. 0: there are no backups.',
    otherwise: 'receipts state that it is not known',
    example: '35',
  }),
  EXPORT_RETENTION_HOURS: integer(1, 8760).register(descriptions, {
    meaning: 'Hours for which a finished evidence package can be downloaded. Then the service deletes it.',
    default: '72',
    example: '24',
  }),
  EXPORT_MAX_BYTES: integer(1, 1_099_511_627_776).register(descriptions, {
    meaning:
      'Maximum size, in bytes, of an evidence package that the service makes in the background. It is kept in PostgreSQL, encrypted.',
    default: '10737418240',
    example: '2147483648',
  }),
  EXPORT_MAX_PER_TENANT: integer(1, 100_000).register(descriptions, {
    meaning: 'Maximum number of evidence exports of one tenant that are queued, running or kept at a time.',
    default: '20',
    example: '5',
  }),
  INVALID_KEY_LIMIT: integer(1, 1_000_000).register(descriptions, {
    meaning:
      'Maximum number of requests with unknown API keys a minute from one IP address (IPv6: one network, see `IPV6_CLIENT_PREFIX`).',
    default: '30',
    example: '60',
  }),
  PUBLIC_VERIFY_LIMIT: integer(1, 1_000_000).register(descriptions, {
    meaning:
      'Maximum number of public verifications a minute from one IP address (IPv6: one network, see `IPV6_CLIENT_PREFIX`).',
    default: '30',
    example: '60',
  }),
  IPV6_CLIENT_PREFIX: integer(32, 128).register(descriptions, {
    meaning:
      'Length, in bits, of the IPv6 prefix whose addresses count as one client for every limit by address. An IPv4 address in IPv6 form counts as the IPv4 address.',
    default: '64',
    example: '56',
  }),
  STRUCTURE_AUDITORS: sha256Digests.register(descriptions, {
    meaning:
      'SHA-256 digests, in hexadecimal and separated by commas, of the bearer tokens with which auditors read the structure of the ledger under `/checkpoints/log/structure/`. It tells how many events a stream has in each batch.',
    default: '',
    otherwise: 'everyone may read it',
    example: '$(printf %s "$AUDITOR_TOKEN" | openssl dgst -sha256 -r | cut -c1-64)',
  }),
  METRICS_TOKEN: bearerSecret.optional().register(descriptions, {
    meaning: 'Bearer token that `GET /metrics` of every role requires. At least 32 characters.',
    otherwise: 'the service has no `/metrics`',
    example: '$(openssl rand -hex 32)',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf(['http', 'https']).optional().register(descriptions, {
    meaning: 'Base URL of a collector for traces (OTLP over HTTP, JSON). The service appends `/v1/traces`.',
    otherwise: 'the service makes no traces',
    example: 'http://localhost:4318',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: urlOf(['http', 'https']).optional().register(descriptions, {
    meaning: 'Complete URL of the collector, instead of `OTEL_EXPORTER_OTLP_ENDPOINT`.',
    otherwise: 'see `OTEL_EXPORTER_OTLP_ENDPOINT`',
    example: 'https://otlp.example.org/v1/traces',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: namedValues().register(descriptions, {
    meaning: 'Headers for the collector, as `name=value` pairs separated by commas, percent-encoded.',
    default: '',
    example: 'authorization=Bearer%20secret',
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: integer(1, 600_000).register(descriptions, {
    meaning: 'Maximum duration, in milliseconds, of one request to the collector.',
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
        'Sampler, which decides on the requests that are traced. `parentbased_*` samplers follow the caller’s `traceparent`; requests without one use the sampler that the suffix names.',
      default: 'parentbased_always_on',
      example: 'traceidratio',
    }),
  OTEL_TRACES_SAMPLER_ARG: ratio.register(descriptions, {
    meaning: 'Share of requests, 0 to 1, that the samplers with `traceidratio` in their name trace.',
    default: '1',
    example: '0.01',
  }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be one of fatal, error, warn, info, debug, trace, silent.',
    })
    .register(descriptions, {
      meaning: 'Minimum severity of log lines.',
      default: 'info',
      example: 'warn',
    }),
  LOG_FORMAT: z.enum(['json', 'text'], { error: 'must be json or text.' }).optional().register(descriptions, {
    meaning: 'Form of log lines: JSON for programs, or text for people. `--json` of a role means JSON.',
    otherwise: 'text on a terminal, JSON elsewhere',
    example: 'json',
  }),
});

export type Values = z.infer<typeof variables>;

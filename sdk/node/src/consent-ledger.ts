import { randomUUID } from 'node:crypto';
import { ApprovalTokenResponse } from '../../../schemas/api/approval-tokens.js';
import { ConfigResponse } from '../../../schemas/api/config.js';
import { ConsentBatchResponse, ConsentResponse } from '../../../schemas/api/consents.js';
import { ActiveDocumentResponse, ActiveDocumentsResponse } from '../../../schemas/api/documents.js';
import { ErasureReceiptResponse } from '../../../schemas/api/erasures.js';
import {
  PERSONAL_FIELDS as ERASED_FIELDS,
  ErasureListResponse,
  FieldsExportResponse,
  FullExportResponse,
} from '../../../schemas/api/export.js';
import { EvidenceExportAnswer } from '../../../schemas/api/panel/exports.js';
import { DeliveriesAnswer, DeliveryAnswer } from '../../../schemas/api/panel/webhook-deliveries.js';
import { PersonTokenResponse } from '../../../schemas/api/person-tokens.js';
import { PingResponse } from '../../../schemas/api/ping.js';
import { ScanResponse } from '../../../schemas/api/scans.js';
import { StatusResponse } from '../../../schemas/api/status.js';
import { VerifyResponse } from '../../../schemas/api/verify.js';
import { Receipt } from '../../../schemas/evidence/receipt.js';
import { conflictOf, ServiceError } from '../../shared/service-error.js';
import type {
  Acceptance,
  ActiveDocument,
  ApprovalToken,
  ApprovalTokenRequest,
  BatchResult,
  Consent,
  DocumentSummary,
  ErasureReceipt,
  ErasureRequest,
  EvidenceExport,
  EvidenceExportRequest,
  ExportedConsent,
  ExportedErasure,
  ExportedFields,
  ExportQuery,
  PersonToken,
  Ping,
  RecordReceipt,
  ScanResult,
  SiteConfiguration,
  StatusItem,
  StatusQuery,
  Verification,
  WebhookDelivery,
} from '../../shared/types.js';
import { IdempotencyConflict } from './idempotency-conflict.js';
import type { LedgerOptions } from './options.js';
import { SignIn } from './sign-in.js';
import { StrictConsents } from './strict-consents.js';
import { type Parse, type ServiceRequest, Transport } from './transport.js';

/** Names of the fields that an erasure deletes, in addition to `attachments`. */
export const PERSONAL_FIELDS: readonly string[] = ERASED_FIELDS;

const PAGE = 1000;
const DELIVERIES_PAGE = 100;
/** A scan visits a page twice, and a visit ends after 22 seconds. */
const SCAN_MS = 60_000;

/** Filters of a record export. The SDK chooses the page size. */
export type RecordFilter = Omit<ExportQuery, 'limit' | 'format' | 'include_erasures' | 'fields'>;

type ExportFilter = Omit<ExportQuery, 'limit' | 'format'>;

/** Fields to read in a record export. A copy without a field never needs to erase it. */
export interface FieldChoice {
  readonly fields: readonly (keyof ExportedConsent)[];
}

/**
 * A client of Consent Ledger for backends. Consents are recorded over the S2S routes, so that the address and the user
 * agent of the backend never become evidence about a person.
 *
 * Every method throws `ServiceError`. Requests that the service could not answer are sent again, as
 * the specification says; a consent is recorded once, because each attempt has its
 * `idempotency_key`.
 */
export class ConsentLedger {
  readonly #transport: Transport;
  readonly #acceptsConflicts: boolean;
  readonly #signIn: SignIn | undefined;
  readonly #strict: StrictConsents | null;

  /** @throws TypeError if `baseUrl` is not a URL, or `apiKey` does not have the form of an API key */
  constructor(options: LedgerOptions) {
    this.#acceptsConflicts = options.acceptsConflicts ?? false;
    this.#transport = new Transport(options);
    this.#strict = options.strict === false ? null : new StrictConsents(() => this.configuration());
    this.#signIn = options.user === undefined ? undefined : new SignIn(this.#transport, options.user);
  }

  /** Checks the connection and the API key. */
  ping(): Promise<Ping> {
    return this.#get('/tool/v1/ping', {}, (body) => PingResponse.parse(body).data);
  }

  /** Reads the banner configuration. @param language BCP 47; if omitted, the site's default */
  configuration(language?: string): Promise<SiteConfiguration> {
    return this.#get('/tool/v1/config', { language }, (body) => ConfigResponse.parse(body).data);
  }

  /**
   * Lists the active documents of the site, without their content.
   * @param language the language, as in `configuration`
   */
  documents(language?: string): Promise<readonly DocumentSummary[]> {
    return this.#get(
      '/tool/v1/documents/active',
      { language },
      (body) => ActiveDocumentsResponse.parse(body).data.documents,
    );
  }

  /** Reads the active version of a document with its content. @param language the language, as in `configuration` */
  document(slug: string, language?: string): Promise<ActiveDocument> {
    const path = `/tool/v1/documents/${encodeURIComponent(slug)}/active`;
    return this.#get(path, { language }, (body) => ActiveDocumentResponse.parse(body).data);
  }

  /**
   * Lists the consents of one visitor that are in force, newest first, at most 20.
   * @param personToken `person_token` of `personToken`: reads the choices of the account alone, also those of sites that
   * share them, with what was asked. It is not used up
   */
  status(query: StatusQuery, personToken?: string): Promise<readonly StatusItem[]> {
    return this.#transport.send(
      { method: 'GET', path: '/tool/v1/consents/status', query, hasKey: true, personToken },
      (body) => StatusResponse.parse(body).data.consents,
    );
  }

  /**
   * Checks the integrity of one record. The result is a statement of the service.
   * @param id UUID, consent token or proof hash of the record
   * @returns null if the service has no such record; a new record can be found a moment after its acceptance
   */
  async verify(id: string): Promise<Verification | null> {
    const path = `/tool/v1/consents/verify/${encodeURIComponent(id)}`;
    try {
      return await this.#get(path, {}, (body) => VerifyResponse.parse(body));
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'CONSENT_NOT_FOUND') return null;
      throw error;
    }
  }

  /**
   * Records one consent of a person.
   * @param consent the consent, with an `idempotency_key` that outlives this process, such as the id of the form that
   * the person sent; without one, a random key protects only the attempts of this call
   * @throws TypeError for an unknown member or category (option `strict`); IdempotencyConflict if the key was used with
   * another consent, unless the option `acceptsConflicts` is set
   */
  async record(consent: Consent): Promise<Acceptance> {
    const content = withKey(consent);
    await this.#strict?.check([content]);
    const acceptance = await this.#whileActive([content], () =>
      this.#post('/tool/v1/s2s/consents', content, (body) => ConsentResponse.parse(body).data),
    );
    const conflict = conflictOf(acceptance.warnings);
    if (conflict === undefined || this.#acceptsConflicts) return acceptance;
    throw new IdempotencyConflict(`${conflict.field} ${conflict.message}`, acceptance);
  }

  /**
   * Records 1 to 100 consents.
   * @returns a result for each consent, in order. Check every result: an item can be rejected alone, and the `warnings`
   * of an accepted item name `idempotency_key` if the key was used with another consent
   */
  async recordBatch(consents: readonly Consent[]): Promise<BatchResult> {
    const content = { consents: consents.map(withKey) };
    await this.#strict?.check(content.consents);
    return this.#whileActive(content.consents, () =>
      this.#post('/tool/v1/s2s/consents/batch', content, (body) => ConsentBatchResponse.parse(body).data),
    );
  }

  /** Mints a one-time approval token, with which the person's browser approves a document. */
  mintApprovalToken(request: ApprovalTokenRequest): Promise<ApprovalToken> {
    return this.#post('/tool/v1/s2s/approval-tokens', request, (body) => ApprovalTokenResponse.parse(body).data);
  }

  /**
   * Mints a person token for a page or an app, which vouches for a person who is signed in at your site: for one recorded
   * choice of the account, and to read its choices. It is valid for 15 minutes. Give it only to that person.
   * @param person `visitor_id` of the person
   */
  personToken(person: string): Promise<PersonToken> {
    return this.#post('/tool/v1/s2s/person-tokens', { person }, (body) => PersonTokenResponse.parse(body).data);
  }

  /**
   * Reads records in the order of recording, with every field or with the `fields` that the filter names. Keep the
   * `cursor` of the last record, and continue after it.
   */
  exportRecords(filter: RecordFilter & FieldChoice): AsyncGenerator<ExportedFields, void>;
  exportRecords(filter?: RecordFilter): AsyncGenerator<ExportedConsent, void>;
  exportRecords({ fields, ...filter }: RecordFilter & Partial<FieldChoice> = {}) {
    return fields === undefined
      ? withoutErasures<ExportedConsent>(this.#records(filter))
      : withoutErasures<ExportedFields>(this.#fields(filter, fields));
  }

  /**
   * Reads records and the erasures among them, to keep a copy of the records up to date. For an item with
   * `erased_record`, the copy deletes the `PERSONAL_FIELDS` of the record that it names.
   */
  exportChanges(filter: RecordFilter & FieldChoice): AsyncGenerator<ExportedFields | ExportedErasure, void>;
  exportChanges(filter?: RecordFilter): AsyncGenerator<ExportedConsent | ExportedErasure, void>;
  exportChanges({ fields, ...filter }: RecordFilter & Partial<FieldChoice> = {}) {
    const changes = { ...filter, include_erasures: 'true' } as const;
    return fields === undefined ? this.#records(changes) : this.#fields(changes, fields);
  }

  /**
   * Reads the erased records of the site, in the order of their announcement.
   * @param cursor cursor of the last item received
   */
  async *erasures(cursor?: string): AsyncGenerator<ExportedErasure, void> {
    const read = (after: string | undefined) =>
      this.#getAsUser('/tool/v1/s2s/erasures', { limit: PAGE, cursor: after }, (body) =>
        ErasureListResponse.parse(body),
      );
    yield* pagesOf(read, cursor);
  }

  /**
   * Erases the personal data of a person or of one record, permanently.
   * @param request what to erase; without an `idempotency_key`, a random one protects the attempts of this call
   */
  erase(request: Omit<ErasureRequest, 'idempotency_key'> & Partial<ErasureRequest>): Promise<ErasureReceipt> {
    const content = { ...request, idempotency_key: request.idempotency_key ?? randomUUID() };
    return this.#post('/tool/v1/s2s/erasures', content, (body) => ErasureReceiptResponse.parse(body).data);
  }

  /** Reads the receipt of an erasure. @param id identifier of the erasure */
  erasure(id: string): Promise<ErasureReceipt> {
    const path = `/tool/v1/s2s/erasures/${encodeURIComponent(id)}`;
    return this.#getAsUser(path, {}, (body) => ErasureReceiptResponse.parse(body).data);
  }

  /**
   * Reads the receipt of a record: its evidence in one file, for `consent-verify check`.
   * @param token consent token of the record
   * @param disclose names of personal values to disclose, or `all`; if omitted, none
   * @throws ServiceError `RECEIPT_NOT_READY` until the record is stamped
   */
  receipt(token: string, disclose?: readonly string[] | 'all'): Promise<RecordReceipt> {
    const path = `/tool/v1/s2s/consents/${encodeURIComponent(token)}/receipt`;
    const names = disclose === 'all' || disclose === undefined ? disclose : disclose.join(',');
    return this.#getAsUser(path, { disclose: names }, (body) => Receipt.parse(body));
  }

  /**
   * Lets the service visit a page of the site, and compare what it sets with the configuration. The scan takes several
   * seconds, and is not repeated if the response is lost.
   * @param url URL of the page, on the verified domain
   * @param options `record` makes the result evidence of the state of the site; `signal` opens the page
   *   with Global Privacy Control
   */
  scan(
    url: string,
    { record = false, signal = false }: { readonly record?: boolean; readonly signal?: boolean } = {},
  ): Promise<ScanResult> {
    const content = { url, record, signal };
    const request = { method: 'POST', path: '/tool/v1/scans', content, hasKey: true } as const;
    return this.#transport.send(
      { ...request, isUnrepeatable: true, takesMs: SCAN_MS },
      (body) => ScanResponse.parse(body).data,
    );
  }

  /** Starts an evidence export, which the service builds in the background. */
  startEvidenceExport(request: EvidenceExportRequest = {}): Promise<EvidenceExport> {
    return this.#post('/tool/v1/s2s/evidence-exports', request, (body) => EvidenceExportAnswer.parse(body).data);
  }

  /** Reads the state and progress of an evidence export. @param id identifier of the export */
  evidenceExport(id: string): Promise<EvidenceExport> {
    const path = `/tool/v1/s2s/evidence-exports/${encodeURIComponent(id)}`;
    return this.#getAsUser(path, {}, (body) => EvidenceExportAnswer.parse(body).data);
  }

  /**
   * Downloads the evidence package of a finished export, a ZIP file for `consent-verify check`.
   * @param id identifier of the export
   * @returns its bytes as they arrive; `timeoutMs` bounds only the time until the first of them
   * @throws ServiceError `EXPORT_NOT_FINISHED`, `EXPORT_GONE`
   */
  async evidencePackage(id: string): Promise<ReadableStream<Uint8Array>> {
    const path = `/tool/v1/s2s/evidence-exports/${encodeURIComponent(id)}/package`;
    const request = { method: 'GET', path, bearer: this.#user(), hasKey: true, isFile: true } as const;
    return this.#transport.send(request, streamOf);
  }

  /**
   * Reads the messages to the webhooks of the site, newest first, each with its status.
   * @param webhookId identifier of one webhook; if omitted, the messages to all are read
   */
  async *webhookDeliveries(webhookId?: string): AsyncGenerator<WebhookDelivery, void> {
    const read = (cursor: string | undefined) =>
      this.#getAsUser(
        '/tool/v1/s2s/webhook-deliveries',
        { limit: DELIVERIES_PAGE, cursor, webhook_id: webhookId },
        (body) => DeliveriesAnswer.parse(body),
      );
    yield* pagesOf(read, undefined);
  }

  /**
   * Sends a message of type `webhook.test` to a webhook. It is not repeated if the response is lost.
   * @throws ServiceError `RATE_LIMIT_EXCEEDED` after five in a minute, `WRONG_STATE` if the webhook is disabled
   */
  async testWebhook(webhookId: string): Promise<WebhookDelivery> {
    const content = { webhook_id: webhookId };
    const request = { method: 'POST', path: '/tool/v1/s2s/webhook-tests', content, hasKey: true } as const;
    return this.#transport.send(
      { ...request, bearer: this.#user(), isUnrepeatable: true },
      (body) => DeliveryAnswer.parse(body).data,
    );
  }

  /**
   * Sends a message to its webhook again, with the same id. Repeated calls with the same delivery send it once.
   * @param delivery a delivery that was read: its status must be `delivered` or `given_up`
   * @throws ServiceError `EVENT_GONE` if its record was erased or its event is no longer kept, `WRONG_STATE`
   */
  sendWebhookAgain({ id, attempt }: Pick<WebhookDelivery, 'id' | 'attempt'>): Promise<WebhookDelivery> {
    const content = { delivery_id: id, after_attempt: attempt };
    return this.#post('/tool/v1/s2s/webhook-deliveries/send-again', content, (body) => DeliveryAnswer.parse(body).data);
  }

  /** Ends the sign-in at the service. The next request signs in again. */
  async signOut(): Promise<void> {
    await this.#signIn?.end();
  }

  #records(filter: ExportFilter): AsyncGenerator<ExportedConsent | ExportedErasure, void> {
    return this.#exported(filter, (body) => FullExportResponse.parse(body));
  }

  #fields(filter: ExportFilter, fields: FieldChoice['fields']): AsyncGenerator<ExportedFields | ExportedErasure, void> {
    return this.#exported({ ...filter, fields: fields.join(',') }, (body) => FieldsExportResponse.parse(body));
  }

  #exported<T>({ cursor, ...filters }: ExportFilter, parse: Parse<Page<T>>): AsyncGenerator<T, void> {
    const query = { ...filters, format: 'json', limit: PAGE };
    const read = (after: string | undefined) =>
      this.#getAsUser('/tool/v1/s2s/consents/export', { ...query, cursor: after }, parse);
    return pagesOf(read, cursor);
  }

  /** `CONFIG_OUTDATED`: resends only if every version is still active (specification, "Errors"). */
  async #whileActive<T>(consents: readonly Consent[], send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'CONFIG_OUTDATED') throw error;
      if (!(await this.#areActive(consents))) throw error;
      return send();
    }
  }

  async #areActive(consents: readonly Consent[]): Promise<boolean> {
    const active = new Set<string>();
    for (const language of new Set(consents.map((consent) => consent.language ?? undefined))) {
      for (const { version } of await this.documents(language)) active.add(version.id);
    }
    return consents.every(({ document_version_id: id }) => id != null && active.has(id.toLowerCase()));
  }

  #get<T>(path: string, query: ServiceRequest['query'], parse: Parse<T>): Promise<T> {
    return this.#transport.send({ method: 'GET', path, query, hasKey: true }, parse);
  }

  async #getAsUser<T>(path: string, query: ServiceRequest['query'], parse: Parse<T>): Promise<T> {
    return this.#transport.send({ method: 'GET', path, query, bearer: this.#user(), hasKey: true }, parse);
  }

  async #post<T>(path: string, content: object, parse: Parse<T>): Promise<T> {
    return this.#transport.send({ method: 'POST', path, content, bearer: this.#user(), hasKey: true }, parse);
  }

  #user(): SignIn {
    if (this.#signIn !== undefined) return this.#signIn;
    throw new ServiceError('This method needs the option user, with the role api_user.', 'MISSING_BEARER_TOKEN', 0);
  }
}

function streamOf(body: unknown): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body;
  throw new TypeError('the answer has no body');
}

function withKey(consent: Consent): Consent {
  return { source: 'server', ...consent, idempotency_key: consent.idempotency_key ?? randomUUID() };
}

async function* withoutErasures<T extends object>(items: AsyncIterable<T | ExportedErasure>): AsyncGenerator<T, void> {
  for await (const item of items) if (!('erased_record' in item)) yield item;
}

interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

async function* pagesOf<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
  first: string | undefined,
): AsyncGenerator<T, void> {
  let cursor = first;
  for (;;) {
    const { data, next_cursor } = await read(cursor);
    yield* data;
    if (next_cursor === null) return;
    cursor = next_cursor;
  }
}

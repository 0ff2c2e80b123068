import { givenAt } from '../../../schemas/events/consent-imported.js';
import { CONSENT_RECORDED, hasApprovalToken } from '../../../schemas/events/consent-recorded.js';
import type { ConsentType } from '../../../schemas/events/sealed-event.js';
import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { isApproval } from '../../../schemas/law/acts.js';
import { isRefusal, validityOf } from '../../../schemas/law/periods.js';
import type { PersonRecords } from '../completeness/persons.js';
import type { Documents } from '../documents/documents.js';
import type { StatedPeriods } from '../documents/in-force.js';
import type { Attachments } from '../entries/attachments.js';
import { verifyDisclosures } from '../entries/disclosures.js';
import { verifyOpening } from '../entries/person-opening.js';
import type { ReadEntry } from '../entries/read-entry.js';
import { recordProblem } from '../entries/record-rules.js';
import { Salts } from '../entries/salts.js';
import type { SummaryCounter } from '../entries/summary.js';
import { matchShape } from '../files/parse.js';
import { type Finding, finding } from '../findings/finding.js';
import type { ConsentList } from '../list/consent-list.js';
import { FilterRules } from '../manifest/filter.js';
import { type ConsentMembers, memberOf, type Schemes, select } from '../versions/schemes.js';
import { ConsentTable } from './consent-table.js';
import type { Statements } from './statements.js';

/** Parts of the package with which consents are compared. */
export interface ConsentContext {
  readonly manifest: Manifest | null;
  readonly schemes: Schemes;
  /** Receives all consents, or null if none is listed. */
  readonly list: ConsentList | null;
}

/** Verifies the records of consents with their disclosures, and keeps them for the checks at the end. */
export class ConsentRecords {
  readonly table = new ConsentTable();
  readonly #salts = new Salts();
  readonly #filter: FilterRules | null;
  /** The batch of the first consent that states its scope, or null before one. */
  #statedFrom: number | null = null;

  /** @param person null without a manifest */
  constructor(
    readonly context: ConsentContext,
    readonly person: PersonRecords | null,
    readonly documents: Documents,
    readonly attachments: Attachments,
    readonly counter: SummaryCounter,
    readonly statements: Statements,
  ) {
    this.#filter = context.manifest && new FilterRules(context.manifest.filter);
  }

  /** Adds a consent whose record cannot be read. */
  addUnread(read: ReadEntry): void {
    this.table.add(read, null);
    this.context.list?.accept(read, null, []);
  }

  /**
   * @param decoded the disclosures of its line, or null if one is malformed
   * @throws RangeError for a record of an unknown version
   */
  verify(read: ReadEntry, type: ConsentType, decoded: readonly (Disclosure | null)[]): void {
    const { record, source, findings } = read;
    const selected = select(this.context.schemes.records, memberOf(record, 'hash_version'));
    if (!selected.isKnown) throw new RangeError('the record has an unknown version');
    const parsed =
      read.consent === null
        ? matchShape(selected.scheme.shapes[type], record)
        : { ok: true as const, value: read.consent };
    if (!parsed.ok) {
      findings.fail('record.format', finding('record-invalid', { reason: parsed.reason }));
      this.person?.accept(read, []);
      this.addUnread(read);
      return;
    }
    const consent: ConsentMembers = parsed.value;
    const problem = recordProblem(consent) ?? this.#formProblem(read, consent);
    if (problem === null) findings.pass('record.format');
    else findings.fail('record.format', problem);
    findings.open('record.proof-hash', finding('proof-hash-not-checked'));
    const disclosures = verifyDisclosures(consent, selected.scheme, source.disclosures, decoded, findings);
    this.#salts.accept(disclosures, findings);
    this.#filter?.verify(consent, disclosures, findings);
    const isOfPerson = this.person?.accept(read, disclosures) !== false;
    verifyOpening(read, disclosures, this.documents.isReceipt);
    this.attachments.verify(disclosures, findings);
    this.statements.accept(consent, disclosures, () => findings.at);
    const isKeyLost = source.key_lost === true;
    if (isKeyLost && (source.disclosures.length > 0 || source.erased !== undefined))
      findings.fail('disclosure.withheld', finding('key-lost-contradicted'));
    if (isKeyLost) this.counter.keyLost += 1;
    const isExplained = isKeyLost || source.erased !== undefined;
    const withheld = Math.max(0, Object.keys(consent.disclosures).length - disclosures.length);
    this.counter.consent(consent, disclosures.length, isExplained ? 0 : withheld);
    const createdAt = Date.parse(consent.created_at);
    this.table.add(read, {
      createdAt,
      decidedAt: givenAt(consent),
      validForMs: consent.valid_until === null ? null : Date.parse(consent.valid_until) - givenAt(consent),
      periods: statedPeriods(consent, createdAt),
      isImported: consent.import !== undefined,
      matches: this.#filter?.matches(consent) === true,
      lacksToken: !hasApprovalToken(consent) && isApproval(consent.consent_type),
      version: this.documents.referToVersion(consent),
      configuration: this.documents.referToConfiguration(consent),
      isLacking: withheld > 0 && !isKeyLost && isOfPerson && this.#filter?.mustDisclose(consent) === true,
    });
    this.context.list?.accept(read, consent, disclosures);
  }

  /**
   * Finds a consent that states neither scope nor rule although a consent of an earlier batch does: its service could do
   * so by then, and chose the rules of before. Entries come in the order of the stream.
   */
  #formProblem({ entry, source: { batch }, findings }: ReadEntry, { scope }: ConsentMembers): Finding | null {
    if (entry.type !== CONSENT_RECORDED) return null;
    const from = this.#statedFrom;
    if (scope === undefined) return from === null || batch <= from ? null : finding('form-of-before', { batch: from });
    // An entry that is not in the ledger accuses no other one.
    if (findings.verdict !== 'invalid') this.#statedFrom ??= batch;
    return null;
  }
}

/** What a record states of its periods, or null if it is of before. @param createdAt its time in milliseconds */
function statedPeriods(consent: ConsentMembers, createdAt: number): StatedPeriods | null {
  const { ask_again_at: askAgain } = consent;
  if (askAgain === undefined) return null;
  const askAgainMs = askAgain === null ? null : Date.parse(askAgain) - createdAt;
  return { validity: validityOf(consent), isRefusal: isRefusal(consent), askAgainMs };
}

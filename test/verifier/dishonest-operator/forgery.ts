import type { CheckId, VerifyOptions } from '../../../verifier-cli/src/index.js';
import {
  type Choice,
  choose,
  type Draft,
  draftOf,
  type EntryLine,
  type ManifestLie,
  packed,
  type Request,
} from './export.js';
import { type Ledger, type LedgerLies, makeLedger, type Plan } from './ledger.js';
import { type ReceiptOptions, receiptOf } from './receipt.js';
import type { TimeAuthority } from './time-authority.js';
import { makePlan, SITE, WORLDS } from './world.js';

/** A package that an operator with all keys but the authority's makes, and what must catch it. */
export interface Forgery {
  /** Point A1 to A9 of the threat that it belongs to. */
  readonly point: string;
  readonly name: string;
  /** Default: `small`. */
  readonly world?: keyof typeof WORLDS | undefined;
  /** Changes what is sealed. */
  readonly plan?: ((plan: Plan) => void) | undefined;
  /** Changes how it is sealed. */
  readonly lies?: LedgerLies | undefined;
  readonly request?: Request | undefined;
  /** Changes what is included. */
  readonly choice?: ((choice: Choice, ledger: Ledger) => void) | undefined;
  /** Changes the lines that say it. */
  readonly draft?: ((draft: Draft, authority: TimeAuthority) => void) | undefined;
  readonly manifest?: ManifestLie | undefined;
  /** Makes a receipt in place of a package. `draft` and `manifest` apply to it as well. */
  readonly receipt?: { readonly label: string } & Omit<ReceiptOptions, 'draft' | 'manifest'>;
  /** Inputs and demands of the relying party. */
  readonly options?: ((ledger: Ledger, authority: TimeAuthority) => Partial<VerifyOptions>) | undefined;
  readonly check: CheckId;
  readonly verdict: 'invalid' | 'indeterminate';
}

/** A forged file, with what it is verified by. */
export interface Made {
  readonly zip: Uint8Array;
  readonly plan: Plan;
  readonly options: Partial<VerifyOptions>;
}

/** Makes forged packages. Ledgers without a lie are made once for each world. */
export class Forge {
  readonly #honest = new Map<string, Ledger>();

  constructor(readonly authority: TimeAuthority) {}

  /** @returns the package or receipt, the plan of its ledger, and what the relying party demands */
  make(forgery: Forgery): Made {
    const { request = {}, choice: change, draft: bend, manifest, receipt } = forgery;
    const ledger = this.ledgerOf(forgery);
    const made = { plan: ledger.plan, options: forgery.options?.(ledger, this.authority) ?? {} };
    if (receipt !== undefined) {
      const draft = (one: Draft): void => bend?.(one, this.authority);
      return { ...made, zip: receiptOf(ledger, receipt.label, { ...receipt, draft, manifest }) };
    }
    const choice = choose(ledger, request);
    change?.(choice, ledger);
    const draft = draftOf(ledger, request, choice);
    bend?.(draft, this.authority);
    return { ...made, zip: packed(draft, manifest) };
  }

  /** The ledger that a forgery is of. */
  ledgerOf({ world = 'small', plan: change, lies }: Forgery): Ledger {
    const known = this.#honest.get(world);
    const isHonest = change === undefined && lies === undefined;
    if (isHonest && known !== undefined) return known;
    const plan = makePlan(WORLDS[world]);
    change?.(plan);
    const ledger = makeLedger(plan, this.authority, lies);
    if (isHonest) this.#honest.set(world, ledger);
    return ledger;
  }
}

/** The line of the event with this label. @throws RangeError if the package does not include it */
export function lineOf(draft: Draft, label: string, site: string = SITE): EntryLine {
  const found = draft.entries.find(({ leaf: { event } }) => event.label === label && event.record.site_id === site);
  if (found === undefined) throw new RangeError(`the package does not include ${label}`);
  return found;
}

/** Leaves the entries with these labels out of a package, and shortens what it calls complete. */
export function leaveOut(choice: Choice, ...labels: readonly string[]): void {
  choice.entries = new Map([...choice.entries].filter(([{ event }]) => !labels.includes(event.label)));
}

import type { Table } from './table.js';

/*
 * Watches people, devices and the records of the service, and says what a page may do. It knows nothing of the SDK: it
 * reads the table, and what everybody did.
 */

type DeviceAnswer = 'none' | 'accepted' | 'partial' | 'refused' | 'ended';
export type Act = 'accept' | 'partial' | 'refuse' | 'opt_out';

/** What one person decided while signed in. */
interface AccountAct {
  readonly person: string;
  readonly device: string;
  readonly act: Act;
  /** Unix milliseconds. */
  readonly at: number;
}

interface DeviceTruth {
  answer: DeviceAnswer;
  /** When nobody was signed in and somebody answered. */
  answeredAt: number;
  isOptedOut: boolean;
}

/** A record of the service, as far as the observer reads it. */
export interface SeenRecord {
  readonly scope: string;
  readonly visitor: string;
  readonly consent_type: string;
  readonly created_at: string;
  /** When the person decided, as the record states. */
  readonly chosen_at: string;
}

/** Whether an act says no to marketing. */
const isNo = (act: Act): boolean => act !== 'accept';

export class Observer {
  readonly #acts: AccountAct[] = [];
  readonly #devices = new Map<string, DeviceTruth>();
  /** Account's answers that were known to the service since some moment, by person. */
  readonly #history = new Map<string, { readonly at: number; readonly act: AccountAct | null }[]>();

  constructor(
    private readonly table: Table,
    private readonly records: () => readonly SeenRecord[],
  ) {}

  acted(device: string, person: string | undefined, act: Act, at: number): void {
    const truth = this.#device(device);
    if (person !== undefined) {
      this.#acts.push({ person, device, act, at });
      if (isNo(act)) truth.answer = truth.answer === 'refused' ? 'refused' : 'ended';
    } else if (act !== 'opt_out') {
      truth.answer = act === 'accept' ? 'accepted' : act === 'partial' ? 'partial' : 'refused';
      truth.answeredAt = at;
    }
    if (act === 'opt_out') truth.isOptedOut = true;
  }

  /** Notes what the service has on record after a step. */
  look(at: number): void {
    for (const person of new Set(this.#acts.map((one) => one.person))) {
      const known = this.#history.get(person) ?? [];
      const act = this.#recorded(person, (one) => one !== 'opt_out') ?? null;
      if (known.length === 0 || known.at(-1)?.act !== act) this.#history.set(person, [...known, { at, act }]);
    }
  }

  /**
   * Whether marketing may run on a page.
   * @param since when its person signed in
   */
  mayRun(device: string, person: string | undefined, since: number): boolean {
    const truth = this.#device(device);
    if (person === undefined) return truth.answer === 'accepted';
    const here = this.#acts.filter((one) => one.person === person && one.device === device && one.act !== 'opt_out');
    const history = this.#history.get(person) ?? [];
    const first = history.findLastIndex(({ at }) => at <= since);
    const last = here.at(-1);
    const known = [
      ...history.slice(Math.max(0, first)),
      ...(last ? [{ at: last.at, act: last }] : []),
      ...(first === -1 ? [{ at: 0, act: null }] : []),
    ];
    return known.some(({ at: from, act }) => {
      // An erasure ends what was decided before it.
      const later = here.filter(({ at }) => at > (act?.at ?? from));
      if (later.some((one) => isNo(one.act))) return false;
      if (act === null) return truth.answer === 'accepted';
      const isHere = act.device === device && act.at > truth.answeredAt;
      return !isNo(act.act) && (isHere || (truth.answer !== 'refused' && truth.answer !== 'partial'));
    });
  }

  /** What a page shows that was opened with everything recorded. */
  expected(device: string, person: string | undefined) {
    const truth = this.#device(device);
    const answered = person === undefined ? undefined : this.#recorded(person, (act) => act !== 'opt_out');
    const optedOut = person !== undefined && this.#recorded(person, (act) => act === 'opt_out') !== undefined;
    const account = answered === undefined ? 'none' : isNo(answered.act) ? 'refused' : 'accepted';
    // Decided here after the device's own answer, which is then no other opinion.
    const isSettled = answered?.device === device && answered.at > truth.answeredAt;
    const own = isSettled ? 'none' : truth.answer === 'partial' ? 'refused' : truth.answer;
    const row = this.table.cells.find(
      ([one, other, signal, isIn]) =>
        one === own && other === account && signal === 'off' && isIn === (person === undefined ? 'no' : 'yes'),
    );
    if (row === undefined) throw new Error(`the table has no row for ${own} ${account}`);
    const [, , , , runs, , asks] = row;
    const isPartial = truth.answer === 'partial' || answered?.act === 'partial';
    return {
      runs,
      opted_out: truth.isOptedOut || optedOut ? 'yes' : 'no',
      // Two refusals that differ elsewhere are no matter of this table.
      asks: isPartial ? undefined : asks,
    };
  }

  /** The newest act of a person that the service has on record. */
  #recorded(person: string, isKind: (act: Act) => boolean): AccountAct | undefined {
    const found = this.records()
      .filter(({ scope, visitor }) => scope === 'account' && visitor === person)
      .flatMap((record) => {
        const acts = this.#acts.filter((one) => one.person === person && isKind(one.act));
        return acts.filter(({ at }) => Date.parse(record.chosen_at) === at);
      });
    return found.at(-1);
  }

  #device(name: string): DeviceTruth {
    const truth = this.#devices.get(name) ?? { answer: 'none', answeredAt: 0, isOptedOut: false };
    this.#devices.set(name, truth);
    return truth;
  }
}

import { isOver, type Kept } from '../core/choice.js';

type Answers = Readonly<Record<string, boolean>>;

/** Members of a device's choice that say nothing of the account: its record, and its place in the queue of the device. */
const NOT_RECORDED = {
  key: undefined,
  after: undefined,
  settledAt: undefined,
  consent_token: undefined,
  proof_hash: undefined,
  created_at: undefined,
};

/**
 * The choice that counts for a person who is signed in: where the device and the account both have one, what both
 * permit; a slot without a choice takes no part (docs/accounts.md).
 * @param isSettled whether the account's choice was made on this device, after the device's own
 * @param now Unix milliseconds
 */
export function both(device: Kept | null, account: Kept | null, isSettled: boolean, now: number): Kept | null {
  if (device === null) return account;
  const opt_out = device.opt_out || account?.opt_out || (account?.opt_out ?? device.opt_out);
  if (account !== null && isSettled) return { ...account, opt_out };
  const here = answered(device, now);
  const there = answered(account, now);
  const base = there ?? here ?? account ?? device;
  const exempt = exemptOf(device.exempt, account?.exempt);
  const common = {
    at: Math.max(device.at, account?.at ?? 0),
    opt_out,
    exempt,
    // What was chosen here after the signal came is later than it.
    isSignalled: account?.isSignalled || (device.isSignalled && device.isPermitted && !device.isVoid),
    ...(base === device && NOT_RECORDED),
  };
  // Who said no to something that is exempt is not held to permit what was added since.
  const decision = base.decision === 'accepted' && isNarrowed(exempt, device.exempt) ? 'partial' : base.decision;
  if (here === null || there === null) {
    // The signal of the browser was heeded for the account, and is later than what the device permitted.
    const isEnded = account?.isVoid && account.isSignalled && base.isPermitted && !base.isSignalled;
    return { ...base, decision, ...common, isVoid: isEnded || base.isVoid };
  }
  const differs = areDifferent(here.categories, there.categories) || areDifferent(here.services, there.services);
  return {
    ...there,
    ...common,
    decision: differs ? 'partial' : decision,
    categories: commonOf(here.categories, there.categories),
    services: there.services && commonOf(here.services, there.services),
    isPermitted: here.isPermitted || there.isPermitted,
    differs: differs || undefined,
  };
}

/** A choice with answers that count. Who refused and is to be asked again has still refused. */
function answered(kept: Kept | null, now: number): Kept | null {
  return kept === null || kept.isVoid || (kept.isPermitted && isOver(kept, now)) ? null : kept;
}

/** What the account permits and the device does not refuse: either may have been asked less. */
function commonOf(here: Answers = {}, there: Answers): Record<string, boolean> {
  const refused = Object.entries(here).filter(([, isOn]) => !isOn);
  return { ...there, ...Object.fromEntries(refused) };
}

/** What the device says no to and the account does not, as one text. */
export function refusedHere(device: Kept | null, account: Kept): string {
  const kinds = ['categories', 'services', 'exempt'] as const;
  return kinds
    .flatMap((kind) =>
      Object.entries(device?.[kind] ?? {}).filter(([key, isOn]) => !isOn && account[kind]?.[key] !== false),
    )
    .join();
}

function areDifferent(here: Answers = {}, there: Answers = {}): boolean {
  return Object.entries(there).some(([key, isOn]) => (here[key] ?? isOn) !== isOn);
}

/**
 * The answers for what is exempt from consent. An objection that only the device knows is left out, which keeps the
 * category off and lets the person object for the account as well.
 */
function exemptOf(here: Answers = {}, there: Answers = {}): Record<string, boolean> {
  return Object.fromEntries(
    Object.entries({ ...here, ...there }).filter(([key]) => there[key] === false || here[key] !== false),
  );
}

function isNarrowed(exempt: Answers, here: Answers = {}): boolean {
  return Object.keys(here).some((key) => exempt[key] === undefined);
}

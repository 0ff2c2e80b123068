/** A stamp without a chain to a configured root, as after a change of authorities, is renewed when it is so old. */
const UNKNOWN_ROOT_MS = 3_600_000;

/**
 * When a stamp must be renewed: some time before it stops being sound; for one whose whole life is shorter than that, half-way.
 * @param soundUntil null where its chain does not lead to a configured root
 * @param marginMs how long before, in milliseconds
 */
export function renewalTime(genTime: Date, soundUntil: Date | null, marginMs: number): Date {
  if (soundUntil === null) return new Date(genTime.getTime() + UNKNOWN_ROOT_MS);
  const life = Math.max(0, soundUntil.getTime() - genTime.getTime());
  return new Date(Math.max(soundUntil.getTime() - marginMs, genTime.getTime() + life / 2));
}

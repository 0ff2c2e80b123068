/**
 * Age at which a time stamp without a chain to a configured root is renewed, as after a change of
 * authorities.
 */
const UNKNOWN_ROOT_MS = 3_600_000;

/**
 * Returns the time at which a time stamp must be renewed: `marginMs` before it stops being sound.
 * If its whole lifetime is shorter than that, it is renewed half-way.
 * @param soundUntil null if its chain does not lead to a configured root
 * @param marginMs in milliseconds
 */
export function renewalTime(genTime: Date, soundUntil: Date | null, marginMs: number): Date {
  if (soundUntil === null) return new Date(genTime.getTime() + UNKNOWN_ROOT_MS);
  const life = Math.max(0, soundUntil.getTime() - genTime.getTime());
  return new Date(Math.max(soundUntil.getTime() - marginMs, genTime.getTime() + life / 2));
}

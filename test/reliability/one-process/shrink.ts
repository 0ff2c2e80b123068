import type { Plan } from './plan.js';

/** The kind of a problem, without numbers and details. */
export function kindOf(problem: string): string {
  return problem.split(':')[0]?.replaceAll(/\d+/g, 'n') ?? '';
}

/**
 * Finds a shorter plan that still fails: with fewer disturbances, then with fewer consents and processes, and
 * with calls in the order in which they arrive. No single disturbance of the result can be left out.
 * @param fails whether the history of a plan breaks the same rule
 */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let shortest = plan;
  const keep = async (changes: Partial<Plan>): Promise<boolean> => {
    const shorter = { ...shortest, ...changes };
    if (!(await fails(shorter))) return false;
    shortest = shorter;
    return true;
  };
  for (let size = Math.ceil(plan.disturbances.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < shortest.disturbances.length; ) {
      const rest = shortest.disturbances.filter((_, place) => place < from || place >= from + size);
      if (!(await keep({ disturbances: rest }))) from += size;
    }
  }
  await keep({ isShuffled: false });
  await keep({ workers: 1 });
  await keep({ quorum: 1 });
  for (let erasures = 0; erasures < shortest.erasures; erasures += 1) if (await keep({ erasures })) break;
  for (let consents = 1; consents < shortest.consents; consents += 1) if (await keep({ consents })) break;
  for (let from = 0; from < shortest.disturbances.length; ) {
    const rest = shortest.disturbances.filter((_, place) => place !== from);
    if (!(await keep({ disturbances: rest }))) from += 1;
  }
  return shortest;
}

import { describe, expect, test } from 'vitest';
import { BodyBudget } from '../../../src/api/server/body-budget.js';

const start = (budget: BodyBudget, owner: string, announced = 0) => {
  const share = budget.begin(owner, announced);
  if (share === null) throw new Error('there is no room');
  return share;
};

describe('the budget of large bodies', () => {
  test('counts what came, not what is announced', () => {
    const budget = new BodyBudget(1000);
    for (let i = 0; i < 50; i += 1) start(budget, 'a', 200);
    for (const owner of ['b', 'c', 'd', 'e']) expect(start(budget, owner, 250).take(250)).toBe(true);
    expect(budget.begin('f', 1)).toBeNull();
  });

  test('gives an owner of several bodies a quarter', () => {
    const budget = new BodyBudget(1000);
    const [one, two] = [start(budget, 'a'), start(budget, 'a')];
    expect(one.take(200)).toBe(true);
    expect(two.take(51)).toBe(false);
    expect(two.take(50)).toBe(true);
    expect(budget.begin('a', 1)).toBeNull();
    expect(start(budget, 'b').take(250)).toBe(true);
  });

  test('takes a body larger than a quarter if it is the only one of its owner, and leaves a quarter', () => {
    const budget = new BodyBudget(1000);
    const large = start(budget, 'a', 750);
    expect(large.take(750)).toBe(true);
    expect(large.take(1)).toBe(false);
    expect(budget.begin('b', 251)).toBeNull();
    expect(start(budget, 'b', 250).take(250)).toBe(true);
    large.release();
    start(budget, 'a');
    expect(budget.begin('a', 251)).toBeNull();
  });

  test('has the room of a released body again, once', () => {
    const budget = new BodyBudget(1000);
    const shares = ['a', 'b', 'c', 'd'].map((owner) => start(budget, owner));
    for (const share of shares) expect(share.take(250)).toBe(true);
    shares[0]?.release();
    shares[0]?.release();
    expect(shares[0]?.take(1)).toBe(false);
    const again = start(budget, 'e');
    expect(again.take(250)).toBe(true);
    expect(again.take(1)).toBe(false);
    expect(budget.begin('f', 1)).toBeNull();
  });
});

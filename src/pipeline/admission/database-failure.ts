import pg from 'pg';

/**
 * SQLSTATE classes of failures that the data of one item can cause. The server rolled the statement
 * back, so the other items may be sent again, one by one. The classes: 22 data, 23 constraints, 40
 * serialization and deadlock, 42 access rules, 44 check option, 54 program limits, P0 raised, XX
 * internal.
 */
const ITEM_FAULT = /^(?:22|23|40|42|44|54|P0|XX)/;

/**
 * Returns whether one item of a group may have caused this failure. Returns false if the outcome is
 * unknown or the server itself failed.
 */
export function isItemFault(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== undefined && ITEM_FAULT.test(error.code);
}

import pg from 'pg';

/**
 * SQLSTATE classes of failures that one item's data can cause. The server has rolled the statement back: its neighbours may be sent again
 * alone. 22 data, 23 constraints, 40 serialisation and deadlock, 42 access rules, 44 check option, 54 program limits, P0 raised, XX internal.
 */
const ITEM_FAULT = /^(?:22|23|40|42|44|54|P0|XX)/;

/** Whether one item of a group may have caused this failure. False where the outcome is unknown, or the server is unwell. */
export function isItemFault(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== undefined && ITEM_FAULT.test(error.code);
}

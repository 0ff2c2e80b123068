/** Whose rights an invitation and a password reset hang on: whoever made them must still have them when the token is used. Null: an operator. */
export const whoLetInSql = `
alter table invitations add column invited_by uuid references users;
alter table password_resets add column made_by uuid references users;
`;

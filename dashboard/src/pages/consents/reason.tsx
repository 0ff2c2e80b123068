import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMessages } from '../../i18n/locale.js';
import { TextInput } from '../../ui/fields.js';

/** How long a reason is proposed again, in milliseconds: about the time of one request of a person. */
const KEPT_MS = 600_000;
const KEY = ['reason'];

/** The reason that was given last, in the memory of the page, and the way to keep another. */
export function useReason(): readonly [reason: string, keep: (reason: string) => void] {
  const queries = useQueryClient();
  const { data } = useQuery<string>({
    queryKey: KEY,
    queryFn: skipToken,
    gcTime: KEPT_MS,
    meta: { isOnRequest: true },
  });
  return [data ?? '', (reason) => queries.setQueryData(KEY, reason)];
}

/** Asks why personal values are needed, which the audit log keeps. */
export function ReasonInput() {
  const { consents } = useMessages();
  const [reason] = useReason();
  return (
    <TextInput
      name="reason"
      label={consents.reason}
      hint={consents.reasonHint}
      defaultValue={reason}
      autoComplete="off"
      maxLength={500}
      isRequired
    />
  );
}

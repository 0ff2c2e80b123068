import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMessages } from '../../i18n/locale.js';
import { TextInput } from '../../ui/fields.js';

/** How long a reason is proposed again, in milliseconds: about the time of one request of a person. */
const KEPT_MS = 600_000;
const KEY = ['reason'];

interface Kept {
  readonly reason: string;
  readonly about: readonly string[];
}

/** Keeps the reason that was given last in the memory of the page, with what it is about: a person, or a record. */
export function useKeepReason(): (reason: string, ...about: readonly string[]) => void {
  const queries = useQueryClient();
  return (reason, ...about) => queries.setQueryData<Kept>(KEY, { reason, about });
}

interface ReasonInputProps {
  /** The person or the record. The reason for another is not proposed: the audit log would keep a wrong one forever. */
  readonly about?: string;
}

/** Asks why personal values are needed, which the audit log keeps. */
export function ReasonInput({ about }: ReasonInputProps) {
  const { consents } = useMessages();
  const { data: kept } = useQuery<Kept>({
    queryKey: KEY,
    queryFn: skipToken,
    gcTime: KEPT_MS,
    meta: { isOnRequest: true },
  });
  const [typed, setTyped] = useState<string | null>(null);
  const proposed = kept !== undefined && about !== undefined && kept.about.includes(about) ? kept.reason : '';
  return (
    <TextInput
      name="reason"
      label={consents.reason}
      hint={consents.reasonHint}
      value={typed ?? proposed}
      onChange={setTyped}
      autoComplete="off"
      maxLength={500}
      isRequired
    />
  );
}

/** The public face of `server`: one member, run in this process. */
export * from './config/index.ts';
export { type Member, type MemberOptions, StartGivenUp, startMember } from './member.ts';
export { VERSION } from './version.ts';

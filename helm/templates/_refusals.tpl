{{/* What values.schema.json cannot say, and what would render and then fail in the cluster, or do harm there. */}}
{{- define "gateway.refusals" -}}
{{- include "gateway.refuseUnreachable" . -}}
{{- include "gateway.refuseUnjoined" . -}}
{{- include "gateway.refuseSecretText" . -}}
{{- include "gateway.refuseTwice" . -}}
{{- range .Values.env -}}
{{- if hasPrefix "MCP_GW__" .name -}}
{{- fail (printf "env: %s: set it under config, which the chart reads as well" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "gateway.refuseUnreachable" -}}
{{- range $key := list "listen" "ops" -}}
{{- $listener := get $.Values.config $key | default dict -}}
{{- if include "gateway.isLoopback" $listener.host -}}
{{- fail (printf "config.%s.host must be an address that others than the pod reach, such as 0.0.0.0" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "gateway.refuseUnjoined" -}}
{{- $scaling := .Values.autoscaling -}}
{{- if and $scaling.enabled (lt (int $scaling.maxReplicas) (int $scaling.minReplicas)) -}}
{{- fail "autoscaling.maxReplicas must be at least autoscaling.minReplicas" -}}
{{- end -}}
{{- if and $scaling.enabled (not $scaling.connections) (not $scaling.cpu) -}}
{{- fail "autoscaling needs connections or cpu" -}}
{{- end -}}
{{- $most := ternary $scaling.maxReplicas .Values.replicaCount $scaling.enabled | int -}}
{{- if and (gt $most 1) (not .Values.config.bus) (not .Values.separateReplicas) -}}
{{- fail (printf "%d replicas need config.bus: without it a change seen by one does not reach the sessions of another, a ticket is good on the replica that issued it alone, and connections of a principal are counted on each. If that is wanted, set separateReplicas: true" $most) -}}
{{- end -}}
{{- end -}}

{{/* A ConfigMap is no place for these. Where only a part of a text is secret, no chart can tell. */}}
{{- define "gateway.refuseSecretText" -}}
{{- range $index, $key := ((.Values.config).seal).keys -}}
{{- if not (contains "${" $key) -}}
{{- fail (printf "config.seal.keys[%d] is a secret: mount it with secrets and write ${file:…}" $index) -}}
{{- end -}}
{{- end -}}
{{- if regexMatch "^[a-z]+://[^/@]*:[^/@$]+@" (toString ((.Values.config).bus).redis) -}}
{{- fail "config.bus.redis holds a password: mount the URL with secrets and write ${file:…}" -}}
{{- end -}}
{{- end -}}

{{- define "gateway.refuseTwice" -}}
{{- $names := list -}}
{{- $paths := list "/etc/mcp-ws-gateway" "/var/cache/mcp-ws-gateway" "/tmp" -}}
{{- range .Values.secrets -}}
{{- $path := .mountPath | default (printf "/run/secrets/%s" .name) -}}
{{- if has .name $names -}}{{- fail (printf "secrets: two are called %s" .name) -}}{{- end -}}
{{- if has $path $paths -}}{{- fail (printf "secrets: %s is mounted at %s, where something else is" .name $path) -}}{{- end -}}
{{- $names = append $names .name -}}
{{- $paths = append $paths $path -}}
{{- end -}}
{{- end -}}

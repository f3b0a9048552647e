#pragma once
#error "not emulable: fp8 types"
